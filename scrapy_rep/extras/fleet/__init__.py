"""What several processes share: robots.txt files, the delays of sites, and what sites asked for. Private.

Processes of one machine share the SQLite file of their store, those of a fleet a Redis. `sharing.Sharing` finds
out which, and subscribes. Three things are shared, each by its own key:

* an entry, by origin: `redis_store` is a store like any other, so the crawl does not know of it;
* the right to start a request, by site: a permit. The door asks `Events.granting`, and `permits.Permits`
  answers;
* a hold, by site: what one process was asked, for the others. `Events.slowed` and `Events.told` carry it.

A site is waited for in one of four states, from the view of one process: it is in the queue; it holds the
permit that is out, valid from a time on; it has started, and has not yet reported; or it is not known there,
because it does not ask. `limiter.PermitQueue` decides on every move. It is pure, has no clock, and is kept
as one JSON text. A limiter (`limiters`) reads, decides and writes in one step, and nothing else.

The obvious other way is a timestamp for each site that a process moves on when it starts. It grants a turn to a
process that may be busy when its time comes. Then it starts late, and the next one starts too close. Here the
delay counts from the start that was reported, and a permit that nobody used expires.

Sites are the key, and never download slots: another process may call those by other names.

When Redis or the file fails, the crawl goes on by its own clock, with the delay multiplied by the number of
workers. A start too late is a loss of speed; a start too early breaks the promise.
"""
