"""The robots.txt of each origin: whether it is in memory, how it is fetched, where it is stored. Private.

An origin (scheme, host and port) has one `origins.OriginState`, in one of four states:

* unknown: there is no `Robots`. Who needs it calls `Registry.flight`;
* in flight: one `SingleFlight` works, and everybody else joins it. It asks the store, then takes the lease on
  the origin, then fetches. Without the lease it waits for the entry of the process that has it;
* known: there is a `Robots`, and ``now`` is before its ``until``. Asking it takes no I/O and no coroutine;
* expired: the `Robots` is still there. The next flight revalidates it, and keeps its parser if nothing changed.

A flight always lands, and all who wait resume. A failed fetch brings a `Robots` like any other: with the access
*unreachable*, a parser, and a time until which it counts. So nobody has to ask for "no answer", and an
exception on the way can never mean "allowed". While an origin is unreachable its last entry stands in for a
time (`protocol.freshness.Freshness`).

Two cases are kept apart because they say nothing about the site. A proxy that refuses to fetch the file answers
for requests through that proxy alone (``refusals``). A copy from Scrapy's HTTP cache judges pages from that
cache alone (``is_replayed``). Neither is stored.

The obvious other way is Scrapy's: one Deferred for all that wait, and redirects and retries left to its
middlewares. The first waiter then consumes the result, the others read None, which means "allowed", and what a
failure means depends on the settings of the project. Here every waiter has a future of its own, and `fetch`
counts hops and attempts itself.

What has to happen when a file arrives subscribes to `Events.answered`, before any other process can read the
entry, or to `Events.loaded`, before those who wait resume.
"""
