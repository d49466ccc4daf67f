"""Share robots.txt files, delays and holds of sites between processes. Private.

Processes of one machine share the SQLite file of their store; those of a fleet share a Redis. `sharing.Sharing`
chooses between them, and subscribes to events. Three things are shared, each under its own key:

* an entry, by origin: `redis_store` is a store like any other; the crawl does not know the difference;
* the right to start a request, by site: a permit. The door asks `Events.granting`, and `permits.Permits`
  answers;
* a hold, by site: one process tells the others that a site asked it to wait. `Events.slowed` and `Events.told`
  carry it.

For each site, a process is in one of four states: it is in the queue; it holds the outstanding permit, valid from
a certain time; it has started and not yet reported; or it is unknown there, because it does not ask.
`limiter.PermitQueue` decides on every move. It is pure, has no clock, and is stored as one JSON text. A limiter
(`limiters`) only reads, decides and writes, in one step.

The obvious alternative is a timestamp per site that a process advances when it starts. That grants a turn to a
process that may be busy when its time comes. It then starts late, and the next process starts too soon after it.
Here, the delay counts from the reported start, and an unused permit expires.

The keys are sites, never download slots, which may have other names in another process. If Redis or the file
fails, the crawl continues by its own clock, with the delay multiplied by the number of workers. A late start costs
speed; an early start breaks the promise.
"""
