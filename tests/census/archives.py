"""WARC files as crawlers write them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

URL = "https://a.example/robots.txt"
DATE = "2026-05-01T10:20:30Z"
RULES = b"User-agent: *\nDisallow: /\n"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


class Archive:
    """Writes records to a WARC file; ``starts`` says where each starts."""

    def __init__(self, writer: WARCWriter) -> None:
        self._writer = writer
        self.starts: list[int] = []

    def add(
        self,
        url: str = URL,
        body: bytes = RULES,
        *,
        status: str | None = "200 OK",
        head: dict[str, str] | None = None,
        kind: str = "response",
        **warc: str,
    ) -> None:
        """Add a record; *status* and *head* are those of HTTP, *warc* the headers of the record, with _ for -."""
        fields = list((head or {}).items())
        http = StatusAndHeaders(status, fields, protocol="HTTP/1.1") if status else None
        headers = {"WARC-Date": DATE} | {name.replace("_", "-"): value for name, value in warc.items()}
        self.starts.append(self._writer.out.tell())
        self._writer.write_record(
            self._writer.create_warc_record(
                url,
                kind,
                payload=BytesIO(body) if body else None,
                length=len(body),
                http_headers=http,
                warc_headers_dict=headers,
            )
        )

    def info(self) -> None:
        """Add the record that describes the file."""
        self._writer.write_record(self._writer.create_warcinfo_record("a.warc", {"software": "test"}))


@contextmanager
def archive(path: Path) -> Iterator[Archive]:
    """Write a WARC file at *path*, with its records compressed if its name ends with .gz."""
    with path.open("wb") as file:
        yield Archive(WARCWriter(file, gzip=path.suffix == ".gz", warc_version="1.1"))


def record(block: bytes, **changed: Any) -> bytes:
    """The octets of a response record, with headers *changed*; those that are None are left out."""
    headers = {
        "WARC_Type": "response",
        "WARC_Target_URI": URL,
        "WARC_Date": DATE,
        "WARC_Record_ID": "<urn:uuid:1>",
        "Content_Type": "application/http; msgtype=response",
        "Content_Length": str(len(block)),
    } | changed
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value is not None]
    return "\r\n".join(["WARC/1.0", *lines, "", ""]).encode() + block + b"\r\n\r\n"
