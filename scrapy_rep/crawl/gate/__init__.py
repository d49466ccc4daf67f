"""The gate, which lets requests pass or stops them, and the account of a crawl. Private.

The gate is a downloader middleware, and the first to see a request. A request leaves it in one of five ways:

* passed at once, in `RepMiddleware.process_request`: robots.txt is in memory and allows it, and nothing else is
  asked. No coroutine, no event, a copied stamp. Nearly every request takes this path;
* passed after `RepMiddleware._answer`, which may wait for robots.txt, checks every URL that may be sent, and
  applies the delay;
* forbidden, by `ForbiddenByRobots`, which names the line that decided;
* unreachable: an error that Scrapy retries, or a refusal, depending on ``REP_UNREACHABLE``;
* sent back to the scheduler, because the crawl is closing. The next run asks again.

A request that passes gets a stamp, and a note at the door under the URL that was judged. The path is chosen once,
at the start of a crawl: a setting or an extra that needs more closes the first path for all requests, and the
short path needs no tests for it.

The middleware keeps no state. `RepExtension` holds it, because spiders, contracts and commands ask the same
questions, and a crawl must have one memory, one fetch and one account. Extensions are built before middlewares.

The gate makes no promise: a middleware behind it may change the URL, and some requests never pass it. It answers
early and says why. `pacing.door` makes the promise.

The account has two parts. `report` stamps and counts requests, logs each fact about an origin once, and sums up.
`losses` logs one line at the end, for "why did I get less than I expected?". It reads only the stats, so
components need not report to it.

The public names are those of `scrapy_rep`.
"""
