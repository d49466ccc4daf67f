"""Switches the add-on on in every crawl of a process, before any code of the process runs."""

from scrapy.settings import default_settings

default_settings.ADDONS = {"scrapy_rep.Addon": 300}
