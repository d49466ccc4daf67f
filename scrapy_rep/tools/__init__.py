"""Tools for use outside a crawl: explain, diff, lint, survey, and the commands for them. Private.

Imported only when used: no crawl pays for them. Importing this package, or the linter, imports no Scrapy. The
public names are those of `scrapy_rep.protocol`.
"""
