"""What becomes of a request, and the account of it. Private.

The gate is a downloader middleware, and the first to see a request. A request leaves it in one of five ways:

* passed at once, in `RepMiddleware.process_request`: robots.txt is in memory, allows it, and nothing else is
  asked. No coroutine, no event, a copied stamp. Nearly every request takes this way;
* passed after `RepMiddleware._answer`, which may wait for robots.txt, asks about each URL that may be sent, and
  applies the delay;
* forbidden, by `ForbiddenByRobots`, which says which line decided;
* unreachable: an error that Scrapy retries, or a refusal, as ``REP_UNREACHABLE`` says;
* sent back to the scheduler, because the crawl closes. The next run asks.

Each request that passes gets a stamp, and a note at the door under the URL that was judged. The way is chosen
once, at the start: a setting or an extra that asks for more takes the first way from all requests, so that the
short one needs no tests for them.

The middleware keeps no state. `RepExtension` has it, because spiders, contracts and commands ask the same
questions, and one crawl must have one memory, one fetch and one account. Extensions are built before
middlewares.

The gate is not the promise: a middleware behind it may change the URL, and some requests never come here. It
answers early, and says why. `pacing.door` holds.

The account has two parts. `report` stamps and counts each request, says each thing about an origin once, and
sums up. `losses` is one line at the end, for "why did I get less than I expected?". It is made from the stats,
so nothing has to report to it.

The public names are those of `scrapy_rep`.
"""
