"""When a request may start: delays, and the requests that wait for them. Private.

The model has two records and one question, all in `slots`.

A `Site` is a host name that asks for pauses. It keeps its reasons (the delays of its robots.txt files, and a
`Pause` that an extra may add) and the time of its last start. Only `Site.start_in(now)` says how long the next
request has to wait. A reason enters, and leaves, through `Slots.require` or `Slots.back_off`.

A `Slot` is a crawl's record of a Scrapy download slot: the sites that are requested through it, its requests in
our queue, and the requests that the queue has handed out. Its floor is the largest floor of its sites. A project
names download slots freely, and two slots may fetch from one site. Both then keep the delay, and the door keeps
their requests apart.

A request with a reason to wait is in one of three places, the cheapest first:

* in the host queue (`priority_queue`). It takes no place in the downloader, and one timer serves all download
  slots. There a slot is ready, waits for a time, or waits for an event: the end of a request or a fetch;
* in Scrapy's download slot, for requests of pipelines and of other queues. Scrapy has a timer per slot. The
  request holds a place in ``CONCURRENT_REQUESTS``, and the crawl lends another to replace it;
* at the door (`door`), where the requests of a site take turns and only the first in line has a timer. If other
  processes request pages of the site, the door asks the event `Events.granting`.

The first two exist for speed. They may release a request too early, or be missing; the door then makes it wait.
The promise thus has one owner. The obvious alternative, an exact queue, was tried: it held only for our own
queue, and every other path to the network (a pipeline, another scheduler, a middleware that moves a request to
another download slot) was a hole.

When the crawl begins to close, all waiting requests go back to the scheduler. With `disk_queue` they also survive
``kill -9``.
"""
