"""Tells changes to another program: one POST of a JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

_TIMEOUT: Final = 10.0  # seconds that the connection, and each part of the answer, may take


class WebhookError(Exception):
    """The document was not accepted, or cannot be sent; the message says why, without the path of the URL."""


def webhook_problem(url: str) -> str:
    """What *url* must be instead; empty for an HTTP URL with a host."""
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0 and url.isascii()
    except ValueError:
        is_right = False
    if not is_right or "@" in parts.netloc or any(character <= " " for character in url):
        return "takes a URL such as https://hooks.example.com/robots, without user name and password"
    return ""


def post(url: str, document: Mapping[str, Any]) -> None:
    """Send *document* as JSON to *url*. Raises `WebhookError` unless the answer has a status from 200 to 299.

    The path of a webhook is often a secret, so that messages, which may be logged, name the host alone.
    """
    body = json.dumps(document).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "scrapy_rep"}
    where = urlsplit(url).netloc
    try:
        request = Request(url, body, headers, method="POST")  # noqa: S310  # `webhook_problem` allows HTTP alone
        build_opener(_NoRedirects).open(request, timeout=_TIMEOUT).close()
    except HTTPError as error:
        error.close()
        raise WebhookError(f"{where} answered with HTTP status {error.code}") from None
    except TimeoutError:
        raise WebhookError(f"{where} did not answer within {_TIMEOUT:g} s") from None
    except (OSError, HTTPException, ValueError) as error:
        raise WebhookError(f"{where} cannot be reached: {getattr(error, 'reason', None) or error}") from None


class _NoRedirects(HTTPRedirectHandler):
    """Makes a redirect an error: what follows it would be a GET, which tells nobody anything."""

    def redirect_request(self, *_: Any) -> None:
        return None
