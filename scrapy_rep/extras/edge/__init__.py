"""What a crawl does at the edge of a site, where permission is decided now. Private.

robots.txt says what a publisher wants. Whether a request gets a page is decided before the site sees it: a CDN or
a firewall looks at the client, and lets it in, asks for money, or sends a challenge. It knows crawlers by their
addresses or by what they claim to be, so an honest crawler without a name that can be verified is one of many.

A crawl does two things there, and evades nothing:

* it proves who it is: `signatures` signs requests with a key whose public half the crawler publishes (Web Bot
  Auth). A signature is no permission. It makes a name that a site can check, allow and hold to its word;
* it hears "no".

A signature is made where a request leaves, behind the door, for what goes over the wire. The obvious other place
is a downloader middleware. But a redirect copies the headers of a request and would carry the signature to
another host, a retry or a ``JOBDIR`` would repeat it after it has expired, and the HTTP cache and the log would
keep it. Here the request that all of these see stays unsigned; the download handler gets a copy, made for one
attempt at one host. So robots.txt, sitemaps and licenses are signed, too.
"""
