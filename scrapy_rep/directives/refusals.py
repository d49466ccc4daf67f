"""Detect refusals by status and headers alone: a site may refuse a page that its robots.txt allows.

Statuses follow RFC 9110 and RFC 7725. Headers are read as their vendors document them, and name the refusing
party. An edge that shows only in bodies or cookies is not named. 429 asks to wait and is not a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scrapy_rep.protocol.access import CHALLENGES, Via, challenge_in, is_of_carrier

HEADERS: Final = (
    *CHALLENGES, "crawler-error", "crawler-price", "link", "payment-required", "proxy-status", "www-authenticate",
)  # fmt: skip
"""The headers that `read_refusal` uses."""

STATUSES: Final = frozenset({202, 400, 401, 402, 403, 405, 429, 451, 503})
"""Statuses of possible refusals; challenges used 202 and 405 (AWS WAF), 429 (Vercel) and 503 (Cloudflare)."""

_KINDS: Final = {401: "authentication", 402: "payment", 403: "forbidden", 451: "legal"}
_UNSIGNED: Final = {"strongauthrequired", "invalidsignature"}  # Cloudflare, "Error codes" of Pay Per Crawl
_LICENSE: Final = re.compile(r"(?:^|,)\s*License\b", re.IGNORECASE)  # the scheme of RSL 1.0, section 6
_BLOCKED_BY: Final = re.compile(r"<([!-;=?-~]{1,200})>[^<>,]{0,200};\s*rel\s*=\s*\"?blocked-by\b", re.IGNORECASE)
_PRICE: Final = re.compile(r"[A-Za-z]{3} \d{1,12}(?:\.\d{1,12})?")  # Cloudflare, "Crawl pages"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal; its text is like ``402, USD 0.01`` or ``403, challenge, Cloudflare``.

    ``kind`` is payment, license, challenge, authentication, forbidden or legal. ``who`` is the edge, the URL of
    the blocking party (RFC 7725 section 4), or the protocol x402; ``price`` is as written.
    """

    kind: str
    status: int
    who: str = ""
    price: str = ""

    def __str__(self) -> str:
        kind = self.kind if self.kind in {"challenge", "license"} else ""
        return ", ".join(filter(None, (str(self.status), kind, self.who, self.price)))


def read_refusal(status: int, headers: Mapping[str, str], via: Via = Via.NOBODY) -> Refusal | None:
    """The refusal by *status* and *headers*, by lower-case name; None without one, or if the carrier refused."""
    if is_of_carrier(status, headers, via):
        return None
    if name := challenge_in(headers):
        return Refusal("challenge", status, CHALLENGES[name][0])
    price = headers.get("crawler-price", "").strip()
    price = price if status == 402 and _PRICE.fullmatch(price) else ""
    if status in {401, 402, 403} and _LICENSE.search(headers.get("www-authenticate", "")):
        return Refusal("license", status, "", price)
    if status == 400 and headers.get("crawler-error", "").strip().lower() in _UNSIGNED:
        return Refusal("authentication", status, "Cloudflare")
    blocked = _BLOCKED_BY.search(headers.get("link", "")) if status == 451 else None
    who = "x402" if status == 402 and "payment-required" in headers else blocked[1] if blocked else ""
    return Refusal(_KINDS[status], status, who, price) if status in _KINDS else None
