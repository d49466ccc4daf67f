"""How many modules a request passes on its way: what somebody has to read who follows one."""

from __future__ import annotations

from tests.support.crawl import crawl
from tests.support.site import Site, robots

WARM, COLD = 15, 40
"""They are never raised: what needs one module more gives up another."""


def test_a_request_passes_few_modules() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        result = crawl(
            f"{site.origins[0]}/first",
            spider="tests.crawl.spiders:CountsModules",
            attributes={"second": site.origins[1]},
            settings={"REP_STORE": "memory"},
            apart=True,
        )
    # On a busy machine the queue looks again at requests that have not started yet. For a moment after a fetch,
    # what bounds its body still listens.
    looked_again = {"scrapy_rep.crawl.runtime.event_loop", "scrapy_rep.crawl.robots.request"}
    warm, cold = (set(result.stats[f"modules/{kind}"].split()) - looked_again for kind in ("warm", "cold"))
    assert len(result.pages) == 22
    assert {"scrapy_rep.crawl.gate.middleware", "scrapy_rep.protocol.robotstxt"} <= warm < cold
    assert len(warm) <= WARM, " ".join(sorted(warm))
    assert len(cold) <= COLD, " ".join(sorted(cold))
