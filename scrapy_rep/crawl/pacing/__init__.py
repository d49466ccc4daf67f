"""When a request may start: delays, and the requests that wait for them. Private.

The model has two records and one question, all in `slots`.

A `Site` is a host name that asks for pauses. It keeps its reasons (the delays of its robots.txt files, and one
`Pause` that an extra may add) and the time of its last start. `Site.start_in(now)` says how long the next
request has to wait, and nothing else in the crawl may answer that. A reason enters by `Slots.require` or
`Slots.back_off`, and leaves there.

A `Slot` is what a crawl knows of one of Scrapy's download slots: the sites that are requested through it, its
requests in our queue, and those that the queue has handed out. Its floor is the largest of its sites. A project
names download slots freely, so two may fetch from one site. Each then keeps the delay, and the door keeps them
apart.

A request with a reason to wait is in one of three places, and each of them is cheaper than the next:

* in the queue of hosts (`priority_queue`). It takes no place, and one timer serves all download slots. There a
  slot is ready, waits for a time, or waits for an event: the end of a request, or of a fetch;
* in Scrapy's download slot, for requests of pipelines and of other queues. Scrapy has one timer for each. The
  request holds a place in ``CONCURRENT_REQUESTS``, so the crawl lends it one;
* at the door (`door`), where it takes turns with others of its site, and only the first of them has a timer.
  Where other processes request pages of the site, the event `Events.granting` is asked here.

The first two are there for speed. They may let a request go too early, or not exist; the door then makes it
wait. So the promise has one owner. The obvious other way, to be exact in the queue, was tried: it held for our
own queue alone, and every other way to the network (a pipeline, another scheduler, a middleware that moves a
request to another download slot) was a hole.

When the crawl begins to close, everything that waits goes back to the scheduler. With `disk_queue` it also
survives ``kill -9``.
"""
