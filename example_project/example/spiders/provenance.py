"""Says of each item what robots.txt said, and writes an audit log: which data was taken under which rule?"""

import scrapy

from scrapy_rep import stamp


class ProvenanceSpider(scrapy.Spider):
    name = "provenance"
    start_urls = ["http://127.0.0.1:8998/drafts/published/1", "http://127.0.0.1:8998/drafts/2"]
    custom_settings = {
        "REP_AUDIT": ".scrapy/audit-%(name)s.jsonl",
        "REP_AUDIT_BODIES": ".scrapy/audit-bodies",
        "REP_ITEM_FIELD": "robots",
        "REP_MODES": {"127.0.0.1": "report"},
    }

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/drafts/published/1
        @scrapes page
        """
        yield {"page": response.url, "verdict": stamp(response).verdict}
