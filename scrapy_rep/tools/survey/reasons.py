"""Why a robots.txt could not be read, in words for people who run web sites."""

from __future__ import annotations

import re
from typing import Final

_REASONS: Final = (
    (r"^FetchError: HTTP status (\d+)$", r"The server answers with HTTP status \1."),
    (r"^FetchError: truncated response|^ResponseDataLossError", "The server breaks off its answer."),
    (r"^FetchError: redirected", "The redirects take too long."),
    (r"(?i)certificate|ssl|tls", "TLS or the server's certificate fails."),
    (r"^(CannotResolveHost|DNSLookup|UnknownHost)", "The name of the host is not known (DNS)."),
    (r"^(Download)?ConnectionRefused", "The server refuses the connection."),
    (r"^(Download|TCP)?Time(dOut|out)|^TCPTimedOut", "The server does not answer in time."),
    (r"^Connection(Lost|Done|Reset|Aborted)|^Response(Failed|NeverReceived)", "The server closes the connection."),
    (r"^DownloadFailedError: .*Connection(Lost|Done|Reset|Aborted)", "The server closes the connection."),
    (r"^DownloadFailedError: .*(ParseError|Unhandled|wrong number|BadHeaders)", "The answer is not HTTP."),
    (r"^DownloadFailedError", "The download fails."),
    (r"^DownloadCancelledError", "The answer is too large."),
)  # fmt: skip
_LONGEST: Final = 80  # characters


def reason_for(problem: str) -> str:
    """Return a sentence about the *problem* of a record; a problem without one is its own reason."""
    for pattern, sentence in _REASONS:
        found = re.search(pattern, problem)
        if found:
            return found.expand(sentence)
    return problem[:_LONGEST]
