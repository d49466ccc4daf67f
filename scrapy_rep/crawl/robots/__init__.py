"""The robots.txt of each origin: whether it is in memory, how it is fetched, where it is stored. Private.

An origin (scheme, host and port) has one `origins.OriginState`, in one of four states:

* unknown: there is no `Robots`. A request that needs it calls `Registry.flight`;
* in flight: one `SingleFlight` works, and all other requests join it. It asks the store, takes the lease on the
  origin, and fetches. Without the lease, it waits for the entry of the process that holds it;
* known: there is a `Robots`, and ``now`` is before its ``until``. Reading it takes no I/O and no coroutine;
* expired: the `Robots` is still there. The next flight revalidates it, and keeps its parser if nothing changed.

A flight always lands, and all waiters resume. A failed fetch yields a normal `Robots`, with the access
*unreachable*, a parser, and an expiry time. Callers never have to handle "no answer", and an exception can never
mean "allowed". While an origin is unreachable, its last entry stands in for a time
(`protocol.freshness.Freshness`).

Two cases are kept apart because they say nothing about the site. If a proxy refuses to fetch the file, that
counts only for requests through the same proxy (``refusals``). A copy from Scrapy's HTTP cache judges only pages
from that cache (``is_replayed``). Neither is stored.

The obvious alternative is Scrapy's: one Deferred for all waiters, with redirects and retries left to its
middlewares. The first waiter then consumes the result, the others read None, which means "allowed", and the
project's settings decide what a failure means. Here every waiter has its own future, and `fetch` counts hops and
attempts.

Code that must act on a new file subscribes to `Events.answered`, sent before other processes can read the entry,
or to `Events.loaded`, sent before the waiters resume.
"""
