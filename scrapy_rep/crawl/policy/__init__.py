"""What the owner of a crawl decided: modes and exceptions, and the stamp that tells of it. Private.

Knows verdicts and the settings. Must not know how a robots.txt is fetched or when a request starts.
"""
