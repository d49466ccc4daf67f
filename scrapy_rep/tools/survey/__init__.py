"""A survey of many robots.txt files: a record of each site, the totals, and a report as one HTML page.

Fetches nothing: ``scrapy robots survey`` brings the files. Only `report` needs Jinja2.
"""
