"""Tools for use outside a crawl: explain, diff, lint, survey, and the commands for them. Private.

Imported only when used: no crawl pays for them, but for `answers`, by which contracts say what they found.
Importing this package, `answers` or the linter imports no Scrapy. What is public of it are names of
`scrapy_rep`, and the ``__all__`` of `bulk`, `crawlers`, `lint`, `profiles` and `writer`.
"""
