"""Identify the crawler at the edge of a site, and respect refusals there. Private.

robots.txt states what a publisher wants. The response to a request is decided before the site sees it: a CDN or a
firewall inspects the client, and admits it, demands payment with a 402, sends a challenge, or answers 403, even if
robots.txt allows everything. It knows crawlers by their addresses and by the names they claim.

A crawl does two things at the edge, and evades nothing:

* it proves its identity. `signatures` signs requests with a key whose public half the crawler publishes (Web Bot
  Auth). A signature is not a permission. It is a name that a site can verify, allow and hold accountable;
* it accepts "no". `refusals` counts refusals separately from robots.txt. If the crawl obeys, it skips a site that
  keeps refusing. Nothing is paid, and no challenge is solved.

Both work at the door, where a request leaves and its answer arrives. The obvious alternative is a middleware. But
a redirect copies headers and would send a signature to another host, a retry or a ``JOBDIR`` would repeat an
expired one, and the HTTP cache and the log would store it. Here, all of these see the unsigned request, and the
download handler gets a copy, made for one attempt at one host. A spider middleware would cost a call per page, see
answers only after retries and redirects, and miss the requests of pipelines.
"""
