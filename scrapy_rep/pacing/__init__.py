"""When a request may start: the queue of hosts, the delays of download slots, the rate limiter. Private.

Knows download slots, and asks the registry of robots.txt files below. Must not know how one is fetched or what
becomes of a request: that is the gate's.
"""
