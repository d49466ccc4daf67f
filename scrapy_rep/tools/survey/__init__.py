"""A survey of many robots.txt files: how the rows of a census are written, summed up, compared and shown.

Fetches nothing: ``scrapy robots survey`` brings the captures, `scrapy_rep.census` makes the rows of them. Only
`report` and `comparison_report` need Jinja2.
"""
