"""Why a robots.txt could not be read, in words for people who run web sites."""

from __future__ import annotations

import re
from typing import Final

_REASONS: Final = (
    (r"^HTTP status (\d+)$", r"The server answers with HTTP status \1."),
    (r"^truncated response", "The server breaks off its answer."),
    (r"^redirected", "The redirects take too long."),
    (r"refused|Connect call failed", "The server refuses the connection."),
    (r"(?i)certificate|ssl|tls", "TLS or the server's certificate fails."),
    (r"DNS|hostname", "The name of the host is not known (DNS)."),
    (r"(?i)timed? ?out|took longer", "The server does not answer in time."),
    (r"(?i)connection.*(lost|closed|reset|aborted)|disconnected", "The server closes the connection."),
    (r"wrong number of parts|[Bb]ad header|Expected HTTP", "The answer is not HTTP."),
    (r"larger than", "The answer is too large."),
)  # fmt: skip
_LONGEST: Final = 80  # characters


def reason_for(problem: str) -> str:
    """Return a sentence about the *problem* of a record; a problem without one is its own reason."""
    for pattern, sentence in _REASONS:
        found = re.search(pattern, problem)
        if found:
            return found.expand(sentence)
    return problem[:_LONGEST]
