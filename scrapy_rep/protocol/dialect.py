"""What differs between flavours of the protocol, as data.

Every other file of this package is the same for all flavours; a new flavour is a new constant here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Dialect:
    """One flavour of the protocol.

    ``canonical_octets``: patterns and paths are compared in one canonical spelling of their octets
    (RFC 9309 sections 2.2.2 and 2.2.3); otherwise the path counts as written and of a pattern only
    octets beyond ASCII and the case of hexadecimal digits are normalised.

    ``robots_txt_allowed``: ``/robots.txt`` itself is always allowed (RFC 9309 section 2.2.2).

    ``wide_tokens``: a crawler whose own name holds digits, dots or letters beyond ASCII is compared
    on all of them, not on the run of ``[A-Za-z_-]`` that RFC 9309 section 2.2.1 allows.

    ``empty_token``: a user-agent line whose token is empty addresses a crawler without a name.
    """

    name: str
    canonical_octets: bool
    robots_txt_allowed: bool
    wide_tokens: bool
    empty_token: bool


GOOGLE: Final = Dialect(
    "google", canonical_octets=True, robots_txt_allowed=True, wide_tokens=True, empty_token=False
)
"""Google's semantics on octets normalised as RFC 9309 asks. The default."""

GOOGLE_EXACT: Final = Dialect(
    "google-exact", canonical_octets=False, robots_txt_allowed=False, wide_tokens=False, empty_token=True
)
"""What Google's open-source parser answers, URL by URL."""

DIALECTS: Final = {dialect.name: dialect for dialect in (GOOGLE, GOOGLE_EXACT)}
"""Every flavour by its name."""
