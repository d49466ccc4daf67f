"""What people and programs ask outside a crawl: explain, diff, lint, survey, and their commands.

Imported only when used: no crawl pays for it. Importing this package imports no Scrapy.
"""
