"""Tools for people and programs outside a crawl: explain, diff, lint, survey, and the commands for them.

Imported only when used: no crawl pays for them. Importing this package, or the linter, imports no Scrapy.
"""
