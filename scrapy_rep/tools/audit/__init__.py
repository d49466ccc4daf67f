"""What audit logs say, and whether they are intact: runs, sums, sentences, the page. Private.

Knows the events and the chain of hashes. Must not know a crawl: a log may come from any machine, and from anyone.
"""
