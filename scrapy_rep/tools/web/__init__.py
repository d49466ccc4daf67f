"""The web checker: ``scrapy robots serve``, a page and an API on engine, linter and explainer. Private.

Knows HTTP, the page, and what strangers may ask of this machine. Must not know how a crawl works. Needs the extra
``web``; only the command imports it.
"""
