"""What a crawl does at the edge of a site, where permission is decided now. Private.

robots.txt says what a publisher wants. What a request gets is decided before the site sees it: a CDN or a firewall
looks at the client and lets it in, asks for money with a 402, sends a challenge, or answers 403, even at sites
whose robots.txt allows everything. It knows crawlers by their addresses and by what they claim to be.

A crawl does two things there, and evades nothing:

* it proves who it is. `signatures` signs requests with a key whose public half the crawler publishes (Web Bot
  Auth). A signature is no permission: it is a name that a site can check, allow and hold to its word;
* it hears "no". `refusals` counts refusals apart from robots.txt and, if the crawl is to obey, skips a site that
  goes on refusing. Nothing is paid, and no challenge is solved.

Both stand at the door, where a request leaves and its answer arrives. The obvious other place is a middleware. But
a redirect copies headers and would carry a signature to another host, a retry or a ``JOBDIR`` would repeat one
that has expired, and the HTTP cache and the log would keep it. Here these see the unsigned request, and the
download handler gets a copy, made for one attempt at one host. A spider middleware would cost each page a call,
see what retries and redirects have made of an answer, and miss what pipelines request.
"""
