"""When a request may start: delays, back-offs, and the requests that wait for them. Private.

The model has two records and one question.

A *site* is a host name that asks for pauses. `slots.Site` keeps its reasons (the delays of its robots.txt files,
a back-off) and the time of its last start. `Site.start_in(now)` says how long the next request has to wait, and
nothing else in the crawl may answer that. A reason enters by `SlotStates.require` or `SlotStates.back_off`, and
leaves there.

A *download slot* is Scrapy's queue of requests. `slots.SlotState` keeps what a crawl knows of one: the sites
that are requested through it, its requests in our queue, and those that the queue has handed out. Two download
slots that fetch from one site become one, because Scrapy could not keep them apart in time.

A request with a reason to wait is in one of three places, and each of them is cheaper than the next:

* in the queue of hosts (`priority_queue`, `slot_tracker`). It takes no place, and one timer serves all download
  slots;
* in Scrapy's download slot, for requests of pipelines and of other queues. Scrapy has one timer for each
  download slot. The request holds a place in ``CONCURRENT_REQUESTS``, so the crawl lends it one;
* at the door (`door`), where it takes turns with others of its site and the first of them has a timer. The
  limiter is asked here: `permits` and `limiter` share the site with other processes.

The first two are there for speed. They may let a request go too early, or not exist; the door then makes it
wait. So the promise has one owner. The obvious other way, to be exact in the queue, was tried: it held for our
own queue alone, and every other way to the network (a pipeline, another scheduler, a middleware that moves a
request to another download slot) was a hole.

When the crawl begins to close, everything that waits goes back to the scheduler.
"""
