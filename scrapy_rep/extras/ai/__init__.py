"""What sites say about the use of their pages by AI, for the purposes that a crawl declares. Private.

Signals come in two moments, and each has its part:

* before a request is sent, `signals.AiSignals` knows what the site says in files. `Events.needed` lets it load
  those that the purposes need (`files`), `Events.deciding` may turn an allowed request into a refused one, and
  `Events.stamping` adds what was said to the stamp;
* when the page has come, `ai_signals.AiSignalsMiddleware` adds what the page says to that, and decides about
  its items.

An answer for a purpose is yes, no or unknown, and unknown stays unknown: ``REP_AI_UNKNOWN`` alone says whether
silence counts as no. Without ``REP_PURPOSES`` nothing is fetched and nothing is read. A crawler that has not
said what it is for cannot be told what it may do.

Other files of an origin take the way of a robots.txt: one flight, one lease, one entry in the store, a
lifetime. They are judged by robots.txt, and robots.txt never waits for them, so files of two hosts that name
each other cannot wait in a circle. What is read is kept with the parser of the robots.txt, and freed with it.

The obvious other way is to ask in the callback, with the page in hand. Then the page that a site reserves has
been fetched already.
"""
