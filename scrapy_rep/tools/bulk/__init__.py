"""Verdicts on any number of URLs of any number of origins, from robots.txt files that are already there.

Fetches nothing, and imports no Scrapy. An origin without a robots.txt is *unknown*, never allowed.
"""

from .sources import Known, Missing, Source, SourceError, open_source
from .verdicts import BulkVerdict, Crawler, decide

__all__ = ["BulkVerdict", "Crawler", "Known", "Missing", "Source", "SourceError", "decide", "open_source"]
