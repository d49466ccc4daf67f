"""The audit log: an account of a crawl that a third person can check. Private.

`audit.Audit` subscribes to the events of a crawl and makes entries of them. `audit_log.AuditLog` writes entries
to a file. The first knows what matters, the second how a file stays whole.

What matters is what departs from "allowed, by a current robots.txt". Those decisions are written one by one.
Ordinary ones are summed up by origin and rule, once a minute: a log that has a line for each of a million pages
is read by nobody. ``REP_AUDIT_ALL`` writes them anyway.

A log is in one of three states:

* open: events go to a thread, which gathers them for a fifth of a second. The event loop never waits for the
  disk;
* failed: the disk is full or away, or 200,000 events wait for it. It writes no more and says so once. With
  ``REP_AUDIT_REQUIRED`` the next decision raises, which stops that request, and the crawl closes. This is why
  an event passes on what a subscriber raises;
* closed, after the last line, which has the totals.

Each line holds the SHA-256 of the line before. So a change is visible from the next line on, a process that is
killed tears the last line at most, and the next run goes on behind it. The obvious other way, Python's logging,
has none of that: it carries on without what it cannot write, and mixes crawls.
"""
