"""Verdicts on any number of URLs of any number of origins, from robots.txt files that are already there.

Fetches nothing, and imports no Scrapy unless a store is opened:

    from pathlib import Path
    from scrapy_rep.tools.bulk import decide, open_source

    for url, verdict in decide(urls, open_source(Path("robots")), ["ExampleBot"]):
        ...

An origin without a robots.txt is *unknown*, never allowed.
"""

from .sources import Known, Missing, Source, SourceError, open_source
from .verdicts import BulkVerdict, Crawler, Held, decide

__all__ = ["BulkVerdict", "Crawler", "Held", "Known", "Missing", "Source", "SourceError", "decide", "open_source"]
