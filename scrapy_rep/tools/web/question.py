"""What a visitor asks, as JSON or as a form: a robots.txt, URLs, crawlers, a dialect; checked before any work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from scrapy_rep.protocol import DIALECTS, MAX_SIZE, Access, Dialect
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.path_pattern import octets
from scrapy_rep.protocol.product_token import asked_token

from .visitors import Limits, Problem, client_of

_DEFAULT_DIALECT: Final = next(iter(DIALECTS))
_MOST_HOPS: Final = 5
_SMALL: Final = 500_000
"""Octets of a robots.txt times verdicts: what has no more takes less than a second, however hostile it is."""
_JSON_FIELDS: Final = {"robots", "urls", "agents", "dialect"}
_MOST_FORM_FIELDS: Final = 300
_SEPARATORS: Final = re.compile(r"[\n,]")
_ACCESS: Final = {access.value: access for access in Access}
_STATUS: Final = re.compile(r"[1-5]\d\d")


class QuestionError(Problem):
    """A question that cannot be answered; the message tells the visitor what to change."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a visitor asks; it travels to a worker process.

    ``url`` is where the robots.txt was fetched, ``hops`` are its redirects, ``status`` is that of the response and
    ``found`` says what it means; empty for one that was pasted. Of ``robots``, ``limit`` octets are parsed.
    ``visitor`` is who asks.
    """

    robots: bytes
    urls: tuple[str, ...] = ("/",)
    agents: tuple[str, ...] = ("*",)
    dialect: str = _DEFAULT_DIALECT
    url: str = ""
    hops: tuple[str, ...] = ()
    status: int | None = None
    found: Access = Access.SUCCESSFUL
    limit: int = MAX_SIZE
    visitor: str = ""

    @property
    def flavour(self) -> Dialect:
        """The dialect itself."""
        return DIALECTS[self.dialect]

    @property
    def is_large(self) -> bool:
        """Whether it may take so long that small questions do not wait for it."""
        return len(self.robots) * len(self.urls) * len(self.agents) > _SMALL

    @property
    def access(self) -> Access:
        """What the fetch means; a text that is pasted after a failed fetch stands for itself."""
        return Access.SUCCESSFUL if self.robots else self.found


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of the form: ``action`` is "check", "fetch", "apply" or a format of an export.

    ``fix`` is the key of the finding to fix, ``site`` is what to fetch.
    """

    question: Question
    action: str = "check"
    fix: str = ""
    site: str = ""


def checked(question: Question, limits: Limits) -> Question:
    """Return *question* with defaults and product tokens filled in. Raises `QuestionError` beyond the *limits*."""
    if len(question.robots) > limits.robots_octets:
        raise QuestionError(
            f"robots: {len(question.robots):,} octets, but at most {limits.robots_octets:,} are checked"
        )
    if question.dialect not in DIALECTS:
        raise QuestionError(f"dialect: {shown(question.dialect)!r} is none of {', '.join(DIALECTS)}")
    urls = _bounded("urls", question.urls, limits.urls, limits.url_characters) or ("/",)
    agents = _bounded("agents", question.agents, limits.agents, limits.agent_characters) or ("*",)
    if len(urls) * len(agents) > limits.verdicts:
        raise QuestionError(
            f"{len(urls):,} urls times {len(agents):,} agents: at most {limits.verdicts:,} verdicts are given"
        )
    hops = tuple(hop[: limits.url_characters] for hop in question.hops[:_MOST_HOPS])
    tokens = tuple(dict.fromkeys(map(_token, agents)))
    return replace(question, urls=urls, agents=tokens, url=question.url[: limits.url_characters], hops=hops)


def _bounded(name: str, values: tuple[str, ...], most: int, longest: int) -> tuple[str, ...]:
    """The different *values*, in order. Raises `QuestionError` for too many, and for one that is too long."""
    found = tuple(dict.fromkeys(value.strip() for value in values if value.strip()))
    if len(found) > most:
        raise QuestionError(f"{name}: {len(found):,} given, but at most {most:,} are checked at once")
    if any(len(value) > longest for value in found):
        raise QuestionError(f"{name}: one has more than {longest:,} characters")
    return found


def _token(agent: str) -> str:
    token = asked_token(agent)
    if not token:
        raise QuestionError(f"agents: {shown(agent)!r} contains no product token: write one such as ExampleBot")
    return token


def question_in(data: object, limits: Limits) -> Question:
    """Return the question in the JSON *data* of the API. Raises `QuestionError`."""
    if not isinstance(data, dict):
        raise QuestionError('expected a JSON object such as {"robots": "User-agent: *", "urls": ["/"]}')
    if unknown := sorted(data.keys() - _JSON_FIELDS):
        there = ", ".join(sorted(_JSON_FIELDS))
        raise QuestionError(f"unknown field {shown(str(unknown[0]))!r}: there are {there}")
    robots, dialect = data.get("robots"), data.get("dialect", _DEFAULT_DIALECT)
    if not isinstance(robots, str):
        raise QuestionError("robots: expected the text of a robots.txt")
    if not isinstance(dialect, str):
        raise QuestionError(f"dialect: expected one of {', '.join(DIALECTS)}")
    asked = Question(octets(robots), _strings(data, "urls"), _strings(data, "agents"), dialect)
    return checked(asked, limits)


def _strings(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = data.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise QuestionError(f"{name}: expected a list of strings")
    return tuple(value)


class _InMemory(MultiPartParser):
    """Keeps an uploaded file in memory, so that nothing of it reaches a disk."""

    spool_max_size = 0  # no limit: that on the request holds


async def read_form(request: Request, limits: Limits, limit: int) -> Form:
    """Return the form in *request*, of whose robots.txt *limit* octets are parsed. Raises `QuestionError`."""
    fields = await _fields(request, limits)
    try:
        typed = [value for name, value in fields.multi_items() if name != "robots" and isinstance(value, str)]
        if sum(map(len, typed)) > limits.urls * limits.url_characters:
            raise QuestionError("the form cannot be read: it has too many URLs or names")
        texts = {name: value for name, value in fields.items() if isinstance(value, str)}
        agents = [value for value in fields.getlist("agents") if isinstance(value, str)]
        status = texts.get("status", "")
        question = Question(
            await _robots(fields),
            tuple(texts.get("urls", "").splitlines()),
            (*agents, *_SEPARATORS.split(texts.get("names", ""))),
            texts.get("dialect") or _DEFAULT_DIALECT,
            texts.get("url", ""),
            tuple(texts.get("hops", "").split()),
            int(status) if _STATUS.fullmatch(status) else None,
            _ACCESS.get(texts.get("access", ""), Access.SUCCESSFUL),
            limit,
            client_of(request.scope),
        )
    finally:
        await fields.close()
    fix = texts.get("apply", "")
    action = "apply" if fix else texts.get("export") or texts.get("action") or "check"
    return Form(question, action, fix, texts.get("site", "").strip())


async def read_page_form(request: Request, limits: Limits) -> tuple[str, str]:
    """The page and the crawler of the form about resources, as the visitor wrote them. Raises `QuestionError`."""
    fields = await _fields(request, limits)
    try:
        page, agent = (fields.get(name, "") for name in ("page", "agent"))
    finally:
        await fields.close()
    return str(page).strip(), str(agent).strip()


def page_in(data: object) -> tuple[str, str]:
    """The page and the crawler in the JSON *data* of the API. Raises `QuestionError`."""
    if isinstance(data, dict) and data.keys() <= {"url", "agent"}:
        page, agent = data.get("url"), data.get("agent", "")
        if isinstance(page, str) and isinstance(agent, str):
            return page.strip(), agent.strip()
    raise QuestionError('expected a JSON object such as {"url": "https://example.com/", "agent": "Googlebot"}')


def crawler_in(agent: str, limits: Limits) -> str:
    """The product token in *agent*. Raises `QuestionError`."""
    if len(agent) > limits.agent_characters:
        raise QuestionError(f"agent: it has more than {limits.agent_characters:,} characters")
    return _token(agent)


async def _fields(request: Request, limits: Limits) -> FormData:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        # The other encoding of forms, which no page of ours asks for, takes half a second to decode.
        raise QuestionError("the form cannot be read: send it as multipart/form-data")
    bounds = {"max_fields": _MOST_FORM_FIELDS, "max_part_size": limits.request_octets}
    try:
        return await _InMemory(request.headers, request.stream(), max_files=1, **bounds).parse()
    except (MultiPartException, KeyError) as error:
        raise QuestionError(f"the form cannot be read: {getattr(error, 'message', error)}") from None


async def _robots(fields: FormData) -> bytes:
    """The octets of the file that was dropped or chosen, else of the text that was pasted."""
    file, text = fields.get("file"), fields.get("robots")
    if isinstance(file, UploadFile) and file.size:
        return await file.read()
    # A browser sends every line end of a text field as CRLF.
    return text.replace("\r\n", "\n").encode("utf-8", "surrogateescape") if isinstance(text, str) else b""
