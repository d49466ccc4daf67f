"""A download handler that is several clients, as those are that read a browser's name in the meta of a request."""

from __future__ import annotations

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.http import Response


class Impersonates(HTTP11DownloadHandler):
    """Sends ``X-Client`` and ``X-Options`` as the meta of a request says."""

    async def download_request(self, request: Request) -> Response:
        request = request.copy()
        request.headers["X-Client"] = request.meta.get("impersonate", "plain")
        request.headers["X-Options"] = str(request.meta.get("impersonate_args"))
        return await super().download_request(request)
