"""The running crawl as the other rooms see it. Private.

A crawl has one `crawl.Crawl`, which hangs on Scrapy's crawler and is freed with it. It holds what all
components share: settings, events, targets, product tokens, log, and the parts of Scrapy that we use.
`Crawl.part` makes a part of a class when it is first asked for. So components need not know who builds whom, or
in which order Scrapy builds them: that depends on the version, and on the settings of the project. A global
would be shorter, but one process may run several crawls.

A crawl passes through four states:

* being built: settings have been read, extras have subscribed, and nothing is requested;
* open, from `Events.opened` on: the door stands. A pipeline that downloads while it is opened opens it earlier;
* closing, as `Engine.is_closing` says. Scrapy sends no signal for it, so `event_loop.Closing` looks every
  quarter of a second while anybody waits. Every `Engine.pause` then ends early and returns False. Whoever waits
  goes back to the scheduler, and no delay holds up the end;
* closed: `Events.closed`, after the store.

`events` is the one way up: a lower room sends, and does not know who hears it.

`scrapy_internals` is the one file that touches what Scrapy does not promise to keep. It lists each touch in
`TOUCHES`, with what is lost where Scrapy has no such thing. It looks for the thing, and compares no versions:
projects bring engines and downloaders of their own, too.
"""
