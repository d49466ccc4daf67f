"""Judge requests that Scrapy does not see: those of a browser that renders pages. Private.

A crawl that renders pages in a browser sends requests past the gate and the door. The browser asks about each
request (``PLAYWRIGHT_ABORT_REQUEST``), and `browser.BrowserGate` answers like the gate: by the robots.txt of the
request's origin, under the modes and exceptions of the crawl.

A browser request ends in one of three ways:

* it passes without a check: its scheme has no robots.txt, or it is the page itself and its Scrapy request is
  exempt;
* it is judged. That may wait for a robots.txt, which is fetched in a separate download slot: the page waits for
  this answer, and may occupy the last place in the slot of the same host;
* it is aborted, if it is disallowed or cannot be judged. An exception would leave the browser waiting forever.

A script may navigate the page to a disallowed URL. The browser then shows its error page. `Events.final_url`
passes the target URL to the gate, which judges the response by that URL.

The obvious alternative is to judge only the page that Scrapy requested. But robots.txt is about URLs, and a site
that disallows ``/api/`` also means the requests of its scripts.

The setting belongs to a process, a gate to a crawl. The add-on therefore puts the gate of its crawl into the
settings. A project's function finds the gate only if a single crawl runs.
"""
