"""A long crawl of a hostile world, and a judge who has only the log of the servers: see docs/soak.md.

``world`` describes the sites, ``answers`` and ``server`` serve them, ``subject`` crawls them, ``events`` disturb
the crawl, ``judge`` reads what happened, ``gauges`` and ``chart`` show it. The world and the judge import nothing
of scrapy_rep: they must not share its mistakes.
"""
