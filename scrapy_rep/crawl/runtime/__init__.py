"""The running crawl as the other rooms see it. Private.

A crawl has one `crawl.Crawl`, which is an attribute of Scrapy's crawler and is freed with it. It holds the things
that components share: settings, events, targets, product tokens, log, and the parts of Scrapy that we use.
`Crawl.part` builds a part on first use. Components therefore need not know who builds whom, or in which order
Scrapy builds them, which depends on its version and on the project's settings. A global would be shorter, but a
process may run several crawls.

A crawl passes through four states:

* being built: settings have been read, extras have subscribed, and nothing is requested;
* open, from `Events.opened` on: the door stands. A pipeline that downloads while it opens makes this earlier;
* closing, as `Engine.is_closing` says. Scrapy sends no signal for it, so `event_loop.Closing` polls every
  quarter of a second while there are waiters. Every `Engine.pause` then ends early and returns False. Waiting
  requests go back to the scheduler, and no delay holds up the end;
* closed: `Events.closed`, after the store.

`events` is the only way up: a lower room sends, and does not know its subscribers.

Only `scrapy_internals` uses private parts of Scrapy. It lists them in `TOUCHES`, each with the loss if Scrapy
lacks it. It tests for the part and compares no versions, because projects may bring their own engines and
downloaders.
"""
