"""The one table of answers that may refuse, each with the document that describes it, and what they refuse.

A crawl, ``scrapy robots explain`` and the census are held against it, and so is the pure function below them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.support.site import Answer

_CRAWL_PAGES: Final = "developers.cloudflare.com/ai-crawl-control/features/pay-per-crawl, Crawl pages (2026-04-23)"
_ERROR_CODES: Final = "developers.cloudflare.com/ai-crawl-control/features/pay-per-crawl, Error codes (2026-04-23)"
_CLOUDFLARE: Final = "developers.cloudflare.com/cloudflare-challenges, Detect a Challenge Page response"
_AWS: Final = "docs.aws.amazon.com/waf, CAPTCHA and Challenge action behavior"
_DATADOME: Final = "docs.datadome.co/reference/validate-request"
_VERCEL: Final = "vercel.com/docs/attack-challenge-mode; the header as its servers send it"
_RSL: Final = "rslstandard.org/rsl, Crawler Authorization Protocol"
_RFC_9110: Final = "RFC 9110 section "
_LICENSE: Final = '<https://e.example/license.xml>; rel="license"; type="application/rsl+xml"'
_NEEDS_LICENSE: Final = 'License error="invalid_request", error_description="a license is required"'


@dataclass(frozen=True)
class Case:
    """An answer with ``headers``. ``refused`` is the text of the refusal, ``kind`` its kind; empty for none."""

    document: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    refused: str = ""
    kind: str = ""

    @property
    def answer(self) -> Answer:
        return Answer(
            self.status, b"<html><title>Answer</title></html>", [("Content-Type", "text/html"), *self.headers]
        )


def _challenge(document: str, status: int, who: str, *headers: tuple[str, str]) -> Case:
    return Case(document, status, headers, f"{status}, challenge, {who}", "challenge")


CASES: Final[dict[str, Case]] = {
    # To be paid for.
    "402": Case(_RFC_9110 + "15.5.3", 402, (), "402", "payment"),
    "price": Case(_CRAWL_PAGES, 402, (("crawler-price", "USD 0.01"),), "402, USD 0.01", "payment"),
    "no-price-offered": Case(
        _ERROR_CODES, 402, (("crawler-error", "MissingCrawlerPrice"), ("crawler-price", "EUR 2")),
        "402, EUR 2", "payment",
    ),
    "price-too-low": Case(
        _ERROR_CODES, 402, (("Crawler-Error", "InvalidCrawlerMaxPrice"), ("Crawler-Price", "USD 0.25")),
        "402, USD 0.25", "payment",
    ),
    "price-that-is-none": Case(_CRAWL_PAGES, 402, (("crawler-price", "ask\tus"),), "402", "payment"),
    "custom-402": Case(
        "developers.cloudflare.com/changelog/2025-08-27-ai-crawl-control-launch", 402,
        (("Server", "cloudflare"),), "402", "payment",
    ),
    "x402": Case(
        "github.com/x402-foundation/x402, specs/transports-v2/http.md", 402,
        (("PAYMENT-REQUIRED", "eyJ4NDAyVmVyc2lvbiI6Mn0="),), "402, x402", "payment",
    ),
    "payment-scheme": Case(
        "draft-httpauth-payment-01", 402, (("WWW-Authenticate", 'Payment id="x", method="tempo"'),),
        "402", "payment",
    ),
    "tollbit": Case("docs.tollbit.com: the paywall answers at a host of its own", 402, (), "402", "payment"),
    # To be licensed.
    "license-401": Case(
        _RSL, 401, (("WWW-Authenticate", _NEEDS_LICENSE), ("Link", _LICENSE)), "401, license", "license"
    ),
    "license-402": Case(
        _RSL, 402, (("WWW-Authenticate", _NEEDS_LICENSE), ("crawler-price", "USD 1")),
        "402, license, USD 1", "license",
    ),
    "license-403": Case(
        "supertab-connect.mintlify.app/licensing/crawler-authentication-protocol", 403,
        (("WWW-Authenticate", 'License error="insufficient_scope"'),), "403, license", "license",
    ),
    "license-or-login": Case(
        _RSL, 401, (("WWW-Authenticate", 'Basic realm="e"'), ("WWW-Authenticate", _NEEDS_LICENSE)),
        "401, license", "license",
    ),
    # Challenges.
    "cloudflare-403": _challenge(_CLOUDFLARE, 403, "Cloudflare", ("cf-mitigated", "challenge")),
    "cloudflare-503": _challenge(_CLOUDFLARE, 503, "Cloudflare", ("CF-Mitigated", "Challenge")),
    "cloudflare-429": _challenge(_CLOUDFLARE, 429, "Cloudflare", ("cf-mitigated", "challenge")),
    "aws-challenge": _challenge(_AWS, 202, "AWS WAF", ("x-amzn-waf-action", "challenge")),
    "aws-captcha": _challenge(_AWS, 405, "AWS WAF", ("x-amzn-waf-action", "captcha")),
    "datadome-403": _challenge(_DATADOME, 403, "DataDome", ("X-DataDome", "protected"), ("X-DD-B", "1")),
    "datadome-401": _challenge(_DATADOME, 401, "DataDome", ("x-dd-b", "2")),
    "vercel-429": _challenge(_VERCEL, 429, "Vercel", ("x-vercel-mitigated", "challenge")),
    "vercel-403": _challenge(_VERCEL, 403, "Vercel", ("X-Vercel-Mitigated", "challenge")),
    # For those who say who they are.
    "basic": Case(_RFC_9110 + "15.5.2", 401, (("WWW-Authenticate", 'Basic realm="e"'),), "401", "authentication"),
    "bearer": Case("RFC 6750 section 3", 401, (("WWW-Authenticate", "Bearer"),), "401", "authentication"),
    "unsigned": Case(
        _ERROR_CODES, 400, (("crawler-error", "StrongAuthRequired"),), "400, Cloudflare", "authentication"
    ),
    "badly-signed": Case(
        _ERROR_CODES, 400, (("crawler-error", "InvalidSignature"),), "400, Cloudflare", "authentication"
    ),
    # Forbidden.
    "403": Case(_RFC_9110 + "15.5.4", 403, (), "403", "forbidden"),
    "crawler-forbidden": Case(_ERROR_CODES, 403, (("crawler-error", "CrawlerForbidden"),), "403", "forbidden"),
    "403-with-terms": Case(
        "developers.cloudflare.com/ai-crawl-control/configuration/ai-crawl-control-with-transform-rules", 403,
        (("Link", '<https://e.example/terms>; rel="license"; type="text/html"'),), "403", "forbidden",
    ),
    "vercel-deny": Case(_VERCEL, 403, (("x-vercel-mitigated", "deny"),), "403", "forbidden"),
    "azure": Case(
        "learn.microsoft.com/azure/web-application-firewall/waf-javascript-challenge: no header says it", 403,
        (("x-azure-ref", "0abc"),), "403", "forbidden",
    ),
    "human": Case("docs.humansecurity.com, Supported Features: no header says it", 403, (), "403", "forbidden"),
    # For legal reasons.
    "451": Case("RFC 7725 section 3", 451, (), "451", "legal"),
    "451-blocked-by": Case(
        "RFC 7725 section 4", 451, (("Link", '<https://spqr.example.org/legislatione>; rel="blocked-by"'),),
        "451, https://spqr.example.org/legislatione", "legal",
    ),
    # No refusals.
    "charged": Case(_CRAWL_PAGES, 200, (("crawler-charged", "USD 0.01"),)),
    "licensed": Case(_RSL, 200, (("Link", _LICENSE),)),
    "protected": Case(_DATADOME, 200, (("X-DataDome", "protected"),)),
    "202": Case(_RFC_9110 + "15.3.3", 202),
    "400": Case(_RFC_9110 + "15.5.1", 400),
    "bad-price": Case(_ERROR_CODES, 400, (("crawler-error", "InvalidCrawlerPriceValue"),)),
    "404": Case(_RFC_9110 + "15.5.5", 404),
    "405": Case(_RFC_9110 + "15.5.6", 405, (("Allow", "POST"),)),
    "406": Case("fastly.com/documentation/guides/next-gen-waf/agent-response-codes: no header says it", 406),
    "410": Case(_RFC_9110 + "15.5.11", 410),
    "428": Case("RFC 6585 section 3", 428),
    "429": Case("RFC 6585 section 4", 429),
    "rate-limit": Case("draft-ietf-httpapi-ratelimit-headers", 429, (("RateLimit", '"default";r=0;t=1'),)),
    "502": Case(_ERROR_CODES, 502, (("crawler-error", "InvalidContentPrice"),)),
    "503": Case(_RFC_9110 + "15.6.4", 503),
    "511": Case("RFC 6585 section 6: a network speaks, not the site", 511),
}  # fmt: skip
"""By name."""

ERROR: Final = ("Proxy-Status", 'p.example; error="http_request_denied"')
CARRIED: Final[dict[tuple[str, str], Case]] = {
    ("proxy", "407"): Case(_RFC_9110 + "15.5.8", 407),
    ("proxy", "403-of-the-proxy"): Case("RFC 9209 section 2.1.1", 403, (ERROR,)),
    ("proxy", "402-of-the-proxy"): Case("RFC 9209 section 2.1.1", 402, (ERROR,)),
    ("proxy", "403-of-the-site"): Case(_RFC_9110 + "15.5.4", 403, (), "403", "forbidden"),
    ("service", "402"): Case(_RFC_9110 + "15.5.3", 402),
    ("service", "403"): Case(_RFC_9110 + "15.5.4", 403),
    ("service", "451"): Case("RFC 7725 section 3", 451, (), "451", "legal"),
    ("nobody", "407"): Case(_RFC_9110 + "15.5.8", 407),
}
"""By carrier and name: who carries a request may refuse it, and that says nothing of the site."""
