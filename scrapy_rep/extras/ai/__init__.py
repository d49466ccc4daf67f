"""AI signals of sites and pages, for the purposes that a crawl declares. Private.

Signals arrive at two moments, each with its own part:

* before a request is sent, `signals.AiSignals` reads the files of the site. `Events.needed` lets it load the files
  that the purposes need (`files`), `Events.deciding` may refuse an allowed request, and `Events.stamping` adds the
  statements to the stamp;
* after the page arrives, `ai_signals.AiSignalsMiddleware` adds the page's own statements, and decides about its
  items.

An answer for a purpose is yes, no or unknown, and unknown stays unknown: only ``REP_AI_UNKNOWN`` makes silence
count as no. Without ``REP_PURPOSES``, nothing is fetched or read: a crawler that has not declared its purposes
cannot be told what it may do.

Other files of an origin are fetched and cached like a robots.txt: one flight, one lease, one entry in the store, a
lifetime. robots.txt decides about them and never waits for them; files of two hosts that name each other cannot
deadlock. The results are cached with the parser of the robots.txt, and freed with it.

The obvious alternative is to check in the callback, with the page at hand. The reserved page has then already been
fetched.
"""
