"""What a verdict of robots.txt means for a request: modes, exceptions, the decision and its stamp. Private.

`robots` returns the verdict of a file. The owner of a crawl may decide otherwise for some sites, and has to
account for it. A verdict therefore becomes a decision in one place only, `policy.decide`. It is a pure function
from verdict, URL, mode, policy and time to a `Decision`. It asks, in this order:

1. Does the mode ask the rules? *ignore* and *off* do not.
2. Does the verdict allow the URL? Then the request passes.
3. Does an exception cover the URL that has not expired and names no other rule? Then the request is excepted.
4. Is the mode *report*? Then the request passes and is reported. Otherwise it is forbidden.

`policy.Judge` adds the rest: which robots.txt a request needs, the settings, the clock, and events for exceptions
that have expired or lapsed. The gate, the queue, the door, commands and contracts all call it or `decide`, and
get the same decision.

The obvious alternative, a flag on the request ("do not obey"), also exists: Scrapy's ``dont_obey_robotstxt``. It
has no end and no scope, and no reason unless the spider gives it one. An exception has all three. An exception is
never applied to an allowed request, and the account shows only the exceptions that were needed.

The stamp, ``meta["rep"]`` (`meta`), records the decision as a dict of JSON values, which survives disk queues.
The gate writes it, and extras add fields. A copy in the meta of another request is removed, because spiders
pass on ``response.meta``.
"""
