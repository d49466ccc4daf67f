"""What a visitor asks, as JSON or as a form: a robots.txt, URLs, crawlers, a dialect; checked before any work."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from scrapy_rep.protocol import DIALECTS, MAX_SIZE, Access, Dialect
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.path_pattern import octets
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.tools.answers import url_problem
from scrapy_rep.tools.crawlers import AI_CRAWLERS, AI_CRAWLERS_IN_USE, CRAWLERS, SEARCH_CRAWLERS, Category
from scrapy_rep.tools.writer import TRAINING, ChoiceError, Choices

from .fetch import FetchedFile
from .visitors import Limits, Problem, client_of

_DEFAULT_DIALECT: Final = next(iter(DIALECTS))
_MOST_SAID: Final = 5
"""Redirects of a file, and sentences about its siblings, that a form gives back."""

_SMALL: Final = 500_000
"""Octets of a robots.txt times verdicts: what has no more takes less than a second, however hostile it is."""
JSON_FIELDS: Final = {"robots", "urls", "agents", "categories", "dialect"}
_MOST_FORM_FIELDS: Final = 300
_SEPARATORS: Final = re.compile(r"[\n,]")


def _of_ai(category: Category) -> tuple[str, ...]:
    return tuple(token for token in AI_CRAWLERS_IN_USE if AI_CRAWLERS[token] is category)


def _in_use(category: Category) -> tuple[str, ...]:
    found = (crawler for crawler in CRAWLERS if crawler.category is category and not crawler.until)
    return tuple(crawler.token for crawler in found if " " not in crawler.token)


CATEGORIES: Final = {
    "training": TRAINING,
    "search": SEARCH_CRAWLERS,
    "ai-search": _of_ai(Category.SEARCH),
    "user-request": _of_ai(Category.USER_REQUEST),
    "archive": _in_use(Category.ARCHIVE),
    "seo": _in_use(Category.SEO),
}
"""Crawlers that can be asked about all at once, by the name of what they have in common."""


class QuestionError(Problem):
    """A question that cannot be answered; the message tells the visitor what to change."""


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """What a visitor asks; it travels to a worker process.

    ``agents`` are asked about one by one, each of ``categories``, names of `CATEGORIES`, as a whole.
    ``source`` is where the robots.txt was fetched, without its body; empty for one that was pasted. Of ``robots``,
    ``limit`` octets are parsed. ``visitor`` is who asks.
    """

    robots: bytes
    urls: tuple[str, ...] = ("/",)
    agents: tuple[str, ...] = ("*",)
    dialect: str = _DEFAULT_DIALECT
    source: FetchedFile = FetchedFile()
    limit: int = MAX_SIZE
    visitor: str = ""
    categories: tuple[str, ...] = ()

    @property
    def flavour(self) -> Dialect:
        """The dialect itself."""
        return DIALECTS[self.dialect]

    @property
    def crawlers(self) -> tuple[str, ...]:
        """All crawlers that are asked about, each once."""
        together = (token for name in self.categories for token in CATEGORIES[name])
        return tuple(dict.fromkeys((*self.agents, *together)))

    @property
    def is_large(self) -> bool:
        """Whether it may take so long that small questions do not wait for it."""
        return len(self.robots) * len(self.urls) * len(self.crawlers) > _SMALL

    @property
    def access(self) -> Access:
        """What the fetch means; a text that is pasted after a failed fetch stands for itself."""
        return Access.SUCCESSFUL if self.robots else self.source.access


FIXES: Final = ("apply", "consider", "confirm")
"""What to do about a finding: make its safe fix, show what another one changes, make that one."""


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of the form: ``action`` is "check", "fetch", "example", "save", "csv", or one of `FIXES`.

    ``fix`` is the key of the finding that the last ones are about, or the code of several; ``site`` is what to
    fetch. With ``is_filled`` the URLs are those that we filled in, and follow the file. ``chosen`` are the fields
    as they are, for the form that writes a robots.txt.
    """

    question: CheckQuestion
    action: str = "check"
    fix: str = ""
    site: str = ""
    is_filled: bool = True
    chosen: Mapping[str, str] = field(default_factory=dict)


def checked(question: CheckQuestion, limits: Limits) -> CheckQuestion:
    """Return *question* with defaults and product tokens filled in. Raises `QuestionError` beyond the *limits*."""
    if len(question.robots) > limits.robots_octets:
        raise QuestionError(
            f"robots: {len(question.robots):,} bytes, but at most {limits.robots_octets:,} are checked"
        )
    if question.dialect not in DIALECTS:
        raise QuestionError(f"dialect: {shown(question.dialect)!r} is not one of {', '.join(DIALECTS)}")
    urls = _bounded("urls", question.urls, limits.urls, limits.url_characters) or ("/",)
    if problem := next(filter(None, map(url_problem, urls)), ""):
        raise QuestionError(f"urls: {problem}")
    categories = tuple(dict.fromkeys(question.categories))
    if unknown := [name for name in categories if name not in CATEGORIES]:
        raise QuestionError(f"categories: {shown(unknown[0])!r} is not one of {', '.join(CATEGORIES)}")
    agents = _bounded("agents", question.agents, limits.agents, limits.agent_characters)
    found = replace(
        question,
        urls=urls,
        agents=tuple(dict.fromkeys(map(_token, agents))) or (() if categories else ("*",)),
        categories=categories,
    )
    if len(urls) * len(found.crawlers) > limits.verdicts:
        given = f"{len(urls):,} urls times {len(found.crawlers):,} agents"
        raise QuestionError(f"{given}: at most {limits.verdicts:,} verdicts fit in one answer")
    return found


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


def question_in(data: object, limits: Limits) -> CheckQuestion:
    """Return the question in the JSON *data* of the API. Raises `QuestionError`."""
    if not isinstance(data, dict):
        raise QuestionError('expected a JSON object such as {"robots": "User-agent: *", "urls": ["/"]}')
    if unknown := sorted(data.keys() - JSON_FIELDS):
        there = ", ".join(sorted(JSON_FIELDS))
        raise QuestionError(f"unknown field {shown(str(unknown[0]))!r}: there are {there}")
    robots, dialect = data.get("robots"), data.get("dialect", _DEFAULT_DIALECT)
    if not isinstance(robots, str):
        raise QuestionError("robots: expected the text of a robots.txt")
    if not isinstance(dialect, str):
        raise QuestionError(f"dialect: expected one of {', '.join(DIALECTS)}")
    urls, agents, categories = (_strings(data, name) for name in ("urls", "agents", "categories"))
    return checked(CheckQuestion(octets(robots), urls, agents, dialect, categories=categories), limits)


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
        agents, categories = (
            [value for value in fields.getlist(name) if isinstance(value, str)]
            for name in ("agents", "categories")
        )
        question = CheckQuestion(
            await _robots(fields),
            tuple(texts.get("urls", "").splitlines()),
            (*agents, *_SEPARATORS.split(texts.get("names", ""))),
            texts.get("dialect") or _DEFAULT_DIALECT,
            _source(texts.get("source", ""), limits),
            limit,
            client_of(request.scope),
            tuple(categories),
        )
    finally:
        await fields.close()
    action = next((name for name in FIXES if texts.get(name)), "")
    fix = texts.get(action, "")
    action = action or texts.get("action") or "check"
    is_filled = question.urls in ((), tuple(texts.get("filled", "").splitlines()))
    return Form(question, action, fix, texts.get("site", "").strip(), is_filled, texts)


def choices_in(chosen: Mapping[str, str]) -> Choices:
    """What the form that writes a robots.txt says. Raises `ChoiceError` for a delay that is not a number."""
    delay = chosen.get("delay", "").strip()
    try:
        seconds = float(delay or 0)
    except ValueError:
        raise ChoiceError("The delay must be a number of seconds, such as 2.") from None
    return Choices(
        is_closed=bool(chosen.get("closed")),
        is_training_closed=bool(chosen.get("training")),
        parameters=tuple(_SEPARATORS.sub(" ", chosen.get("parameters", "")).split()),
        is_wordpress=bool(chosen.get("wordpress")),
        sitemap=chosen.get("sitemap", "").strip(),
        delay=seconds,
    )


async def _fields(request: Request, limits: Limits) -> FormData:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        # The other encoding of forms, which no page of ours asks for, takes half a second to decode.
        raise QuestionError("the form cannot be read: send it as multipart/form-data")
    bounds = {"max_fields": _MOST_FORM_FIELDS, "max_part_size": limits.request_octets}
    try:
        return await _InMemory(request.headers, request.stream(), max_files=1, **bounds).parse()
    except (MultiPartException, KeyError) as error:
        raise QuestionError(f"the form cannot be read: {getattr(error, 'message', error)}") from None


def _source(text: str, limits: Limits) -> FetchedFile:
    """Where the file of a form was fetched, as our page wrote it; what else is in it only its sender sees."""
    try:
        data = json.loads(text)
        hops, others = ([str(one)[: limits.url_characters] for one in data[name]] for name in ("hops", "others"))
        return FetchedFile(
            str(data["url"])[: limits.url_characters],
            tuple(hops[:_MOST_SAID]),
            data["status"] if data["status"] in range(100, 600) else None,
            Access(data["access"]),
            content_type=str(data["content_type"])[: limits.agent_characters],
            time=float(data["time"]),
            others=tuple(others[:_MOST_SAID]),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return FetchedFile()


async def _robots(fields: FormData) -> bytes:
    """The octets of the file that was dropped or chosen, else of the text that was pasted."""
    file, text = fields.get("file"), fields.get("robots")
    if isinstance(file, UploadFile) and file.size:
        return await file.read()
    # A browser sends every line end of a text field as CRLF.
    return text.replace("\r\n", "\n").encode("utf-8", "surrogateescape") if isinstance(text, str) else b""
