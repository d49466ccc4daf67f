"""What a form of the page holds: the question, and the button that sent it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from scrapy_rep.protocol import Access

from .limits import Limits
from .question import DEFAULT_DIALECT, Question, QuestionError
from .visitors import client_of

_MOST_FIELDS: Final = 300
_SEPARATORS: Final = re.compile(r"[\n,]")
_ACCESS: Final = {access.value: access for access in Access}
_STATUS: Final = re.compile(r"[1-5]\d\d")


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of the form: ``action`` is "check", "fetch", "apply" or a format of an export.

    ``fix`` is the key of the finding to fix, ``site`` is what to fetch.
    """

    question: Question
    action: str = "check"
    fix: str = ""
    site: str = ""


class _InMemory(MultiPartParser):
    """Keeps an uploaded file in memory, so that nothing of it reaches a disk."""

    spool_max_size = 0  # no limit: that on the request holds


async def read_form(request: Request, limits: Limits, limit: int) -> Form:
    """Return the form in *request*, of whose robots.txt *limit* octets are parsed. Raises `QuestionError`."""
    fields = await _fields(request, limits)
    try:
        texts = [value for name, value in fields.multi_items() if name != "robots" and isinstance(value, str)]
        if sum(map(len, texts)) > limits.urls * limits.url_characters:
            raise QuestionError("the form cannot be read: it has too many URLs or names")
        agents = _SEPARATORS.split(_text(fields, "names"))
        status, found = _text(fields, "status"), _text(fields, "access")
        question = Question(
            await _robots(fields),
            tuple(_text(fields, "urls").splitlines()),
            (*(one for one in fields.getlist("agents") if isinstance(one, str)), *agents),
            _text(fields, "dialect") or DEFAULT_DIALECT,
            _text(fields, "url"),
            tuple(_text(fields, "hops").split()),
            int(status) if _STATUS.fullmatch(status) else None,
            _ACCESS.get(found, Access.SUCCESSFUL),
            limit,
            client_of(request.scope),
        )
    finally:
        await fields.close()
    fix = _text(fields, "apply")
    action = "apply" if fix else _text(fields, "export") or _text(fields, "action") or "check"
    return Form(question, action, fix, _text(fields, "site").strip())


async def _fields(request: Request, limits: Limits) -> FormData:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        # The other encoding of forms, which no page of ours asks for, takes half a second to decode.
        raise QuestionError("the form cannot be read: send it as multipart/form-data")
    bounds = {"max_fields": _MOST_FIELDS, "max_part_size": limits.request_octets}
    try:
        return await _InMemory(request.headers, request.stream(), max_files=1, **bounds).parse()
    except (MultiPartException, KeyError) as error:
        raise QuestionError(f"the form cannot be read: {getattr(error, 'message', error)}") from None


async def _robots(fields: FormData) -> bytes:
    """The octets of the file that was dropped or chosen, else of the text that was pasted."""
    file = fields.get("file")
    if isinstance(file, UploadFile) and file.size:
        return await file.read()
    return with_lf(_text(fields, "robots")).encode("utf-8", "surrogateescape")


def with_lf(text: str) -> str:
    """*text* as it was typed: a browser sends every line end of a text field as CRLF."""
    return text.replace("\r\n", "\n")


def _text(fields: FormData, name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else ""
