"""What a verdict of robots.txt means for a request: modes, exceptions, the decision and its stamp. Private.

`robots` says what a file says. The owner of a crawl may have decided otherwise for some sites, and has to be
able to account for it. So a verdict is not yet a decision, and `policy.decide` is the only way from one to the
other. It is pure: verdict, URL, mode, policy and time come in, a `Decision` goes out. In this order it asks:

1. Are the rules asked at all? Not in the modes *ignore* and *off*.
2. Does the verdict allow the URL? Then it passes.
3. Does an exception cover it, that is neither expired nor made for another rule? Then it is excepted.
4. Is the mode *report*? Then it passes, and is reported. Otherwise it is forbidden.

`policy.Judge` adds what that leaves out: which robots.txt a request needs, the settings, the clock, and events
for exceptions that have expired or lapsed. The gate, the queue, the door, commands and contracts all ask it or
`decide`, so a request has one fate wherever the question is put.

The obvious other way, a flag on the request ("do not obey"), exists as well: it is Scrapy's
``dont_obey_robotstxt``. It has no end and no scope, and names a reason only if the spider does. An exception
has all three. What is allowed anyway is never excepted, so the account shows only what was needed.

A decision is told by the stamp, ``meta["rep"]`` (`meta`): a dict of JSON values, which survives disk queues.
The gate writes it, and extras add fields. A copy in the meta of another request is removed, because spiders
hand on ``response.meta``.
"""
