"""Why a site could not be read, in words."""

from __future__ import annotations

import pytest

from scrapy_rep.tools.survey.reasons import reason_for


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ("HTTP status 503", "The server answers with HTTP status 503."),
        ("DNS lookup failed: no results for hostname lookup: x.", "The name of the host is not known (DNS)."),
        ("Getting https://h/robots.txt took longer than 10.0 seconds.", "The server does not answer in time."),
        ("TCP connection timed out: 110: Connection timed out.", "The server does not answer in time."),
        ("Connection was refused by other side: 111: Connection refused.", "The server refuses the connection."),
        ("Cannot connect to host h:1 ssl:default [Connect call failed ('h', 1)]",
         "The server refuses the connection."),
        ("truncated response", "The server breaks off its answer."),
        ("TLS fails: certificate verify failed", "TLS or the server's certificate fails."),
        ("Connection to the other side was lost in a non-clean fashion: Connection lost.",
         "The server closes the connection."),
        ("('wrong number of parts', b'SSH-2.0')", "The answer is not HTTP."),
        ("No such file or directory", "No such file or directory"),
        ("X" * 500, "X" * 80),
    ],
)  # fmt: skip
def test_ours_a_problem_has_a_sentence(problem: str, reason: str) -> None:
    assert reason_for(problem) == reason
