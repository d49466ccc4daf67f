"""When a request may start: the queue of hosts, the delays of download slots, the rate limiter. Private."""
