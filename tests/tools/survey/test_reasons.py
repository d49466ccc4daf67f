"""Why a site could not be read, in words."""

from __future__ import annotations

import pytest

from scrapy_rep.tools.survey.reasons import reason_for


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ("FetchError: HTTP status 503", "The server answers with HTTP status 503."),
        ("CannotResolveHostError: DNS lookup failed: no results", "The name of the host is not known (DNS)."),
        (
            "DownloadTimeoutError: it took longer",
            "The server does not answer in time.",
        ),
        ("TCPTimedOutError: 110", "The server does not answer in time."),
        ("DownloadConnectionRefusedError: Connection was refused", "The server refuses the connection."),
        ("FetchError: truncated response", "The server breaks off its answer."),
        ("DownloadFailedError: [('SSL routines', '', 'x')]", "TLS or the server's certificate fails."),
        ("No such file or directory", "No such file or directory"),
        ("X" * 500, "X" * 80),
    ],
)
def test_ours_a_problem_has_a_sentence(problem: str, reason: str) -> None:
    assert reason_for(problem) == reason
