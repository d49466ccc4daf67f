"""What is public, one thing a line, as the code has it: ``docs/reference/stability.md`` promises to keep it.

``python -m tests.support.public`` writes the list to ``tests/project/public.txt``, which a test compares.
"""

from __future__ import annotations

import dataclasses
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from configparser import ConfigParser
from typing import Final

from scrapy.settings import Settings

from scrapy_rep import signals
from scrapy_rep.census import COLUMNS, LONG
from scrapy_rep.census.row import ColumnType
from scrapy_rep.contracts import CONTRACTS
from scrapy_rep.crawl.policy.exceptions import KEYS
from scrapy_rep.crawl.policy.meta import BLANK
from scrapy_rep.crawl.robots.stores import codec
from scrapy_rep.extras.audit.audit import CLOSE_REASON as AUDIT_FAILED
from scrapy_rep.extras.audit.audit_log import VERSION
from scrapy_rep.extras.fleet.redis_connection import CLOSE_REASON as REDIS_UNAVAILABLE
from scrapy_rep.protocol import DIALECTS
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.commands import FAILED, FOUND, OK, SUB_COMMANDS, module_of
from scrapy_rep.tools.lint import CODES
from scrapy_rep.tools.lint.config import TABLE, Config
from scrapy_rep.tools.watch.copies import FORMAT
from scrapy_rep.tools.web import page
from scrapy_rep.tools.web import question as web_question

from . import json_output
from .markdown import PAGES, ROOT, names, section
from .public_names import public_names, shown_default

RECORDED: Final = ROOT / "tests" / "project" / "public.txt"
CODE: Final = "".join(path.read_text("utf-8") for path in sorted((ROOT / "scrapy_rep").rglob("*.py")))


def public() -> list[str]:
    """All that is public, sorted."""
    return sorted({line for kind in _KINDS for line in kind()})


def _settings() -> Iterator[str]:
    defaults = RepSettings.from_settings(Settings())
    for field in dataclasses.fields(RepSettings):
        name, default = f"REP_{field.name.upper()}", getattr(defaults, field.name)
        yield f"setting {name} = {shown_default(default)!r}"
        choices = _CHOICES.fullmatch(field.metadata["kind"].expected)
        yield from (f"setting {name} takes {choice}" for choice in (choices[1].split(", ") if choices else ()))


_CHOICES: Final = re.compile(r"(?:one|a list) of ((?:[\w'.-]+, )+[\w'.-]+)")


def _literals() -> Iterator[str]:
    """Stats, meta keys and reasons to close, which the code has as literals."""
    reasons = {AUDIT_FAILED, REDIS_UNAVAILABLE}
    yield from (f"close reason {reason}" for reason in reasons)
    yield from (f"stat {name}" for name in re.findall(r'"((?:rep|robotstxt)/[\w/]+)', CODE))
    ours = {"rep", "is_robotstxt_request", *re.findall(r'"(rep_[a-z_]+)"', CODE)} - reasons
    to_set = names(section(PAGES["docs/reference/meta.md"], "## Keys that you set"))
    yield from (f"meta {key}" for key in ours & {"rep", "rep_sitemap", "is_robotstxt_request", *to_set})


def _signals() -> Iterator[str]:
    for name in vars(signals):
        if name.islower() and name[0] != "_" and name != "annotations":
            (sent,) = re.findall(rf"(?:signal=|_send\(){name}, ([^)]*)\)", CODE)
            yield f"signal scrapy_rep.signals.{name}({', '.join(re.findall(r'([a-z]+)=', sent))})"


def _commands() -> Iterator[str]:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    for line in config["options.entry_points"]["console_scripts"].split("\n"):
        yield from [f"command {line.partition(' =')[0]}"] if line else []
    for name in SUB_COMMANDS:
        parser = ArgumentParser(add_help=False)
        module_of(name).add_arguments(parser)
        for action in parser._actions:
            takes = f" ({action.nargs})" if action.nargs else ""
            what = f"command scrapy robots {name} {', '.join(action.option_strings) or action.dest}{takes}"
            yield from [what, *(f"{what} {choice}" for choice in action.choices or ())]
    yield from (f"json scrapy robots {line}" for line in json_output.fields())
    yield from (f"exit {code}" for code in (f"{OK} nothing found", f"{FOUND} found", f"{FAILED} failed"))


def _files() -> Iterator[str]:
    """Formats with their versions, and the fields of those that other programs read or write."""
    yield f"format store, in SQLite and Redis: {codec.SCHEMA}"
    yield f"format stamp: {BLANK['v']}"
    yield f"format audit log: {VERSION}"
    yield f"format scrapy robots watch --store: {FORMAT}"
    yield from (f"stamp {name}" for name in BLANK)
    page = PAGES["docs/reference/audit.md"]  # a test compares it with the log of a crawl
    for event in re.findall(r"^## ([a-z]+)$", page, re.MULTILINE):
        yield from (f"audit {event}.{name}" for name in names(section(page, f"## {event}")))
    yield from (f"exceptions file [[exception]] {key}" for key in KEYS)
    options = (field.name.replace("_", "-") for field in dataclasses.fields(Config) if field.name != "folder")
    yield from (f"lint configuration [{TABLE}] {name}" for name in options)


def _columns() -> Iterator[str]:
    for table, columns in (("survey", COLUMNS), ("long form", LONG)):
        yield from (f"column {table} {name}: {_type(column)}" for name, column in columns.items())


def _type(column: ColumnType) -> str:
    return getattr(column.type, "__name__", "") if isinstance(column.type, type) else str(column.type)


def _lists() -> Iterator[str]:
    yield from (f"lint code {code}: {kind.severity.value}" for code, kind in CODES.items())
    yield from (f"dialect {name}" for name in DIALECTS)
    yield from (f"contract @{contract.name}" for contract in CONTRACTS)
    yield from ("pytest robots_site", "python -m scrapy_rep.testing.conformance")
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    of_users = set(config["options.extras_require"]) - {"bench", "browser", "dev", "docs", "fuzz", "lint", "test"}
    yield from (f"extra {name}" for name in of_users)
    inputs = (ROOT / "action.yml").read_text("utf-8").partition("inputs:")[2].partition("\nruns:")[0]
    yield from (f"action input {name}" for name in re.findall(r"^  ([\w-]+):$", inputs, re.MULTILINE))
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    yield from (f"pre-commit hook {name}" for name in re.findall(r"^- id: (.+)$", hooks, re.MULTILINE))


def _web() -> Iterator[str]:
    """What programs send to the web checker, and what they get."""
    body = json_output.BODY + b"Allow: /\nUseragnt: b\nDisallow: /\n"  # a mistake that has consequences
    asked = web_question.CheckQuestion(body, ("/private/a",), ("*", "Googlebot"))
    taken = {"check": web_question.JSON_FIELDS, "fetch": {"site"}}
    yield from (f"api POST /api/{path} takes {name}" for path, found in taken.items() for name in found)
    answer = json.loads(page.facts(asked))
    yield from (f"api POST /api/check answers {name}" for name in {*json_output.fields_in(answer)})


_KINDS: Final = (public_names, _settings, _literals, _signals, _commands, _files, _columns, _lists, _web)


_GONE: Final = "Gone. Keep it, deprecated, until the next major version: docs/reference/stability.md"
_CHANGED: Final = "Changed. What worked must go on working: new parameters come last and have defaults."
_NEW: Final = "New. Is it meant to be public? If so, document it."
_RECORD: Final = "When that is settled: python -m tests.support.public"


def difference(recorded: list[str], found: list[str]) -> str:
    """What to do about each line of *found* that is not *recorded*, and the other way round; empty for none."""
    gone = {_subject(line): line for line in recorded if line not in found}
    new = {_subject(line): line for line in found if line not in recorded}
    changed = [f"{gone[subject]} -> {new[subject]}" for subject in gone.keys() & new.keys()]
    parts = (
        (_GONE, [gone[subject] for subject in gone.keys() - new.keys()]),
        (_CHANGED, changed),
        (_NEW, [new[subject] for subject in new.keys() - gone.keys()]),
    )
    told = ["\n  ".join([text, *sorted(lines)]) for text, lines in parts if lines]
    return "\n".join([*told, _RECORD]) if told else ""


def _subject(line: str) -> str:
    """What *line* is about, without its parameters, its value or its version."""
    return re.split(r"\(| = |: ", line, maxsplit=1)[0]


if __name__ == "__main__":
    RECORDED.write_text("\n".join(public()) + "\n", "utf-8")
