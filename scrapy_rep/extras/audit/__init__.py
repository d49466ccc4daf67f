"""The audit log: an account of a crawl that a third party can verify. Private.

`audit.Audit` subscribes to the events of a crawl and turns them into entries. `audit_log.AuditLog` writes entries
to a file. The first decides what matters, the second keeps the file intact.

Decisions other than "allowed, by a current robots.txt" matter, and are written one by one. Ordinary decisions are
summed up by origin and rule, once a minute: nobody reads a log with a line for each of a million pages.
``REP_AUDIT_ALL`` writes them anyway.

A log is in one of three states:

* open: events go to a thread, which collects them for a fifth of a second. The event loop never waits for the
  disk;
* failed: the disk is full or missing, or 200,000 events wait for it. The log stops and says so once. With
  ``REP_AUDIT_REQUIRED``, the next decision raises, which stops that request, and the crawl closes. This is why
  events propagate the exceptions of their subscribers;
* closed, after the last line, which has the totals.

Each line holds the SHA-256 of the line before. A change is therefore visible from the next line on, and a killed
process tears at most the last line, after which the next run continues. The obvious alternative, Python's logging,
has none of that: it drops entries that it cannot write, and mixes crawls.
"""
