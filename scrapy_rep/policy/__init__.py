"""What the owner of a crawl decided, and the account of it: modes, exceptions, the stamp, the audit log. Private.

Knows verdicts and the settings. Must not know how a robots.txt is fetched or when a request starts.
"""
