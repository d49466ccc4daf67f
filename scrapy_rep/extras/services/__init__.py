"""Requests that leave behind Scrapy's back: what a browser loads for a page. Private.

A crawl that renders pages in a browser sends requests that neither the gate nor the door sees. The browser asks
about each of them (``PLAYWRIGHT_ABORT_REQUEST``), and `browser.BrowserGate` answers as the gate would: by the
robots.txt of the request's own origin, under the modes and exceptions of the crawl.

A request of the browser ends in one of three ways:

* it is let through, unasked: its scheme has no robots.txt, or it is the page itself, for a request that is
  exempt;
* it is judged. That may wait for a robots.txt, fetched in a download slot of its own: the page, which waits for
  this answer, may hold the last place in the slot of the same host;
* it is aborted, if it is forbidden or cannot be judged. An exception would leave the browser waiting for ever.

A script may lead the page to a forbidden URL. The browser then shows an error page of its own.
`Events.final_url` gives the gate the URL that it left for, so the response is judged by that.

The obvious other way is to judge only the page, which is what Scrapy requested. But robots.txt speaks of URLs,
and a site that disallows ``/api/`` means its scripts' requests for it too.

The setting is that of a process, while a gate belongs to a crawl. So the add-on puts the gate of its crawl into
the settings. A function of a project finds it only if one crawl runs.
"""
