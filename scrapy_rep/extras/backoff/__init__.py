"""Sites that ask to slow down, or fail repeatedly. Private.

A site without trouble has no record. `outcomes.Backoffs` hears what the network answers, finds the site that
asked, and keeps a `site_backoff.SiteBackoff`, which passes through these states:

* held: nothing starts until ``until``, because the site said how long, or because the delay says so;
* slow: starts are ``delay`` apart. A new plea that names no time doubles it, up to ``REP_BACKOFF_MAX``;
* recovering: each good answer to a request that began later halves the delay, down to the ``pace``, a little
  slower than what the site took before it asked;
* quiet: each half minute without a plea makes the pace a fifth shorter, until the record is dropped.

For the crawl this is a `Pause`, with a floor and a time before which nothing starts. It enters by
`Slots.back_off`, and queue, download slots and door keep it as they keep a Crawl-delay.

What counts as a plea is the hard part. Outcomes are heard at the download handler, below Scrapy's HTTP cache,
whose old 429 says nothing. A burst of answers is one event: only a request that began after the last plea can
be a new one. An error other than 429 and 503 counts only when another page of the site fails too: one broken
page tells nothing about a site. A failure of a proxy tells nothing at all.

The obvious other ways are Scrapy's: to retry at once, which adds load where there is too much, and
AutoThrottle, which goes by latency and does not slow down for a 429, because that comes fast.
"""
