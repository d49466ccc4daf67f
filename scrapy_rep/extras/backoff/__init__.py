"""Slow down for sites that ask for it, or fail repeatedly. Private.

A site without trouble has no record. `outcomes.Backoffs` receives the outcomes of requests, finds the site that
asked, and keeps a `site_backoff.SiteBackoff`, which passes through these states:

* held: nothing starts until ``until``, which comes from the site or from the delay;
* slow: starts are ``delay`` apart. A new plea without a time doubles the delay, up to ``REP_BACKOFF_MAX``;
* recovering: each good answer to a later request halves the delay, down to the ``pace``, which is a little slower
  than the rate that the site accepted before it asked;
* quiet: each half minute without a plea shortens the pace by a fifth, until the record is dropped.

For the crawl, a back-off is a `Pause`, with a floor and a time before which nothing starts. It enters through
`Slots.back_off`; queue, download slots and door keep it like a Crawl-delay.

The hard part is to decide what counts as a plea. Outcomes are observed at the download handler, below Scrapy's
HTTP cache, whose old 429 means nothing. A burst of answers is one event: only a request that began after the last
plea can bring a new one. Errors other than 429 and 503 count only if another page of the site also fails: a single
broken page says nothing about a site. A failure of a proxy never counts.

The obvious alternatives are Scrapy's: an immediate retry, which adds load to an overloaded site, and AutoThrottle,
which follows latency and does not slow down for a 429, because that comes fast.
"""
