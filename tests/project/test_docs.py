"""The documentation says what the code does: every table of names, every example, every setting it mentions."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib.util
import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

import scrapy_rep
import scrapy_rep.census
import scrapy_rep.directives
import scrapy_rep.protocol
from scrapy_rep import ForbiddenByRobots, exceptions, signals
from scrapy_rep.census import COLUMNS, LONG
from scrapy_rep.census.row import LINTED, ColumnType
from scrapy_rep.contracts import CONTRACTS
from scrapy_rep.protocol import DIALECTS, Dialect, Origin, Reason, Verdict, access
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.commands import Command, module_of
from scrapy_rep.tools.crawlers import CRAWLERS, Category, Follows, Source
from scrapy_rep.tools.lint.config import Config, read_config
from scrapy_rep.tools.lint.fixes import FIXABLE
from tests.support.crawl import crawl
from tests.support.markdown import (
    DOCS,
    PAGES,
    ROOT,
    assignments,
    blocks,
    commands,
    names,
    rows,
    run_robots,
    section,
)
from tests.support.rooms import ROOMS
from tests.support.site import Answer, Site, robots, sequence

CODE = "".join(path.read_text("utf-8") for path in sorted((ROOT / "scrapy_rep").rglob("*.py")))
SETTINGS = [f"REP_{name.upper()}" for name in RepSettings.__slots__]
DEFAULTS = dict(
    re.findall(
        r"^### (REP_\w+)\n\nType: .+\. Default: `(.+)`\.$", PAGES["docs/reference/settings.md"], re.MULTILINE
    )
)
COMMANDS = re.findall(r"^  (\w+) ", Command().long_desc(), re.MULTILINE)
STATS = re.findall(r"^\| `((?:rep|robotstxt)/[a-z_/]+)", PAGES["docs/reference/stats.md"], re.MULTILINE)


def test_every_setting_has_a_heading_a_type_and_a_default() -> None:
    assert sorted(re.findall(r"^### (.+)$", PAGES["docs/reference/settings.md"], re.MULTILINE)) == sorted(SETTINGS)
    assert DEFAULTS.keys() == set(SETTINGS)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_documented_default_is_the_default_in_the_code(name: str) -> None:
    value = ast.literal_eval(DEFAULTS[name])
    assert RepSettings.from_settings(Settings({name: value})) == RepSettings()


@pytest.mark.parametrize("page", PAGES)
def test_every_setting_that_a_page_mentions_exists(page: str) -> None:
    assert set(re.findall(r"\bREP_[A-Z_0-9]+", PAGES[page])) <= set(SETTINGS)


def test_every_stat_in_the_code_has_its_row_and_no_row_is_invented() -> None:
    assert sorted(STATS) == sorted(set(re.findall(r"\"((?:rep|robotstxt)/[\w/]+)", CODE)))


@pytest.mark.parametrize("page", PAGES)
def test_every_stat_that_a_page_mentions_has_a_row(page: str) -> None:
    for stat in re.findall(r"`((?:rep|robotstxt)/[a-z_/]+)`", PAGES[page]):
        assert any(stat == row or (row.endswith("/") and stat.startswith(row)) for row in STATS)


def test_every_meta_key_has_its_row() -> None:
    keys = set(names(PAGES["docs/reference/meta.md"]))
    close_reasons = {"rep_redis_unavailable": "docs/fleet.md", "rep_audit_failed": "docs/policy.md"}
    close_reasons["rep_no_door"] = "docs/architecture.md"
    scrapys, ours = {"dont_obey_robotstxt"}, {"is_robotstxt_request", "rep"}
    assert keys - scrapys == ours | set(re.findall(r"\"(rep_[a-z_]+)\"", CODE)) - set(close_reasons)
    assert all(f'"{key}"' in CODE for key in keys)
    assert all(f"`{reason}`" in PAGES[page] for reason, page in close_reasons.items())


def test_every_meta_key_that_the_robots_request_is_said_to_carry_is_in_the_code() -> None:
    text = section(PAGES["docs/reference/meta.md"], "## The request for a robots.txt")
    carried = re.search(r"It carries (.*?): hops", text, re.DOTALL)
    assert carried
    keys = set(re.findall(r"`([a-z_]+)`", carried[1]))
    assert len(keys) >= 7
    assert all(f'"{key}"' in CODE for key in keys)


def test_every_signal_has_its_row() -> None:
    ours = {name for name in vars(signals) if name.islower() and name[0] != "_"} - {"annotations"}
    rows_of_ours = {name for name in names(PAGES["docs/reference/signals.md"]) if name.startswith("scrapy_rep.")}
    assert rows_of_ours == {f"scrapy_rep.signals.{name}" for name in ours}


def test_every_exception_has_its_row_with_its_base() -> None:
    documented = rows(PAGES["docs/reference/exceptions.md"].partition("## ")[0])
    ours = {
        f"scrapy_rep.{name}": f"`{value.__bases__[0].__name__}`"
        for name, value in vars(exceptions).items()
        if isinstance(value, type) and value.__module__ == exceptions.__name__
    }
    assert {name: cells[0] for name, cells in documented.items()} == ours
    assert {name.removeprefix("scrapy_rep.") for name in ours} <= set(scrapy_rep.__all__)


def test_every_attribute_of_a_forbidden_request_has_its_row() -> None:
    text = section(PAGES["docs/reference/exceptions.md"], "## Attributes of ForbiddenByRobots")
    error = ForbiddenByRobots(Origin.from_url("https://example.com"), Verdict(False, None, Reason.UNREACHABLE))
    assert set(names(text)) == {*vars(error), "__cause__"}
    reasons = re.findall(r"`([a-z-]+)`", rows(text)["reason"][0])
    assert set(reasons) <= {reason.value for reason in Reason}


def test_every_command_has_its_row_and_its_page() -> None:
    text, folder = PAGES["docs/reference/commands/index.md"], DOCS / "reference" / "commands"
    assert sorted(names(text.partition("\n## ")[0])) == sorted(COMMANDS)
    assert sorted(path.stem for path in folder.iterdir()) == sorted([*COMMANDS, "index"])
    assert all(PAGES[f"docs/reference/commands/{name}.md"].startswith(f"# {name}\n") for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_its_row_and_is_in_its_synopsis(name: str) -> None:
    parser = ArgumentParser(add_help=False)
    module_of(name).add_arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings}
    text = PAGES[f"docs/reference/commands/{name}.md"]
    synopsis = blocks(text, "text")[0]
    assert {row for row in names(text) if row.startswith("-")} == options
    assert set(re.findall(r"--[a-z-]+", synopsis)) == options
    assert all(f"scrapy robots {name}" in line for line in synopsis.splitlines())


@pytest.mark.parametrize(("heading", "columns"), [("### Rows", COLUMNS), ("### The long form", LONG)])
def test_the_data_dictionary_has_each_column_in_its_place_with_its_type(
    heading: str, columns: dict[str, ColumnType]
) -> None:
    documented = rows(section(PAGES["docs/reference/census.md"], heading))
    assert [*documented.items()] == [
        (name, [f"`{of_spark(column.type)}`{or_null(column.type)}", column.about])
        for name, column in columns.items()
    ]


def of_spark(kind: Any) -> str:
    """The name that Spark SQL has for the type *kind*, which may be optional."""
    names = {str: "string", int: "bigint", float: "double", bool: "boolean", datetime: "timestamp"}
    if kind in names:
        return names[kind]
    parts = ", ".join(of_spark(part) for part in get_args(kind) if part is not NoneType)
    return {dict: f"map<{parts}>", list: f"array<{parts}>"}.get(get_origin(kind), parts)


def or_null(kind: Any) -> str:
    return " or null" if NoneType in get_args(kind) else ""


def test_the_columns_that_a_light_row_leaves_out_are_named() -> None:
    (sentence,) = re.findall(
        r"^A light row .* leaves out (.+), which", PAGES["docs/reference/census.md"], re.MULTILINE
    )
    assert re.findall(r"`(\w+)`", sentence) == [*LINTED]


def test_the_census_page_has_exactly_the_public_names() -> None:
    package = "scrapy_rep.census"
    identifiers = re.findall(r"^::: (\S+)$", PAGES["docs/reference/census.md"], re.MULTILINE)
    own = [name for name in identifiers if name.count(".") == package.count(".") + 1]
    assert own == [f"{package}.{name}" for name in scrapy_rep.census.__all__]


@pytest.mark.parametrize("name", ["warc", "arrow", "spark"])
def test_the_census_page_has_the_public_names_of_modules_beside_it(name: str) -> None:
    module = f"scrapy_rep.census.{name}"
    identifiers = re.findall(rf"^::: {re.escape(module)}\.(\S+)$", PAGES["docs/reference/census.md"], re.MULTILINE)
    loaded = pytest.importorskip(module, exc_type=ModuleNotFoundError)
    assert sorted(identifiers) == sorted(loaded.__all__)


def test_every_contract_has_its_row() -> None:
    assert names(PAGES["docs/reference/contracts.md"]) == [f"@{contract.name}" for contract in CONTRACTS]


def unread(settings: type, modules: Iterable[str]) -> list[str]:
    """The fields of *settings* that none of *modules*, texts of Python, reads from what is called settings."""
    read = {
        node.attr
        for module in modules
        for node in ast.walk(ast.parse(module))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and re.search(r"(?:settings|parsed|rep|from_settings\(.*\))\Z", ast.unparse(node.value), re.DOTALL)
    }
    return [field.name for field in dataclasses.fields(settings) if field.name not in read]


def test_every_setting_is_read() -> None:
    paths = (path for path in (ROOT / "scrapy_rep").rglob("*.py") if path.parent.name != "settings")
    modules = [path.read_text("utf-8") for path in paths]
    assert unread(RepSettings, modules) == []
    more = dataclasses.make_dataclass("More", [("read_by_nothing", int, 0)], bases=(RepSettings,), frozen=True)
    assert unread(more, modules) == ["read_by_nothing"]


def statuses_in(text: str) -> set[int]:
    """The statuses that a cell means, such as "4xx, but not 429; FTP without the file" or "429, 5xx"."""
    counted, _, excepted = text.partition(", but not ")
    found = {
        status
        for number in re.findall(r"\d(?:\d\d|xx)", counted)
        for status in range(int(number.replace("xx", "00")), int(number.replace("xx", "99")) + 1)
    }
    return found - set(map(int, re.findall(r"\d{3}", excepted)))


def test_the_table_of_statuses_says_what_access_does() -> None:
    text = section(PAGES["docs/semantics.md"], "## Fetch results")
    found: dict[int, str] = {}
    for what, meaning in re.findall(r"^\| ([^|]+) \|([^|]*)\|", text, re.MULTILINE):
        not_found = b"<title>404 Not Found</title>" if "page was not found" in what else b""
        for status in statuses_in(what):
            if not_found or status not in found:
                assert access(status, not_found) == (meaning.strip() or "unavailable"), (what, status)
            found[status] = meaning
    assert found.keys() >= {*range(200, 600)}


def test_the_api_page_has_exactly_the_public_names() -> None:
    identifiers = re.findall(r"^::: (\S+)$", PAGES["docs/reference/api.md"], re.MULTILINE)
    assert identifiers == [f"scrapy_rep.{name}" for name in scrapy_rep.__all__]


def test_the_protocol_page_has_exactly_the_public_names() -> None:
    """A function that is called as its module is named by both, or the page would show the module."""
    package = "scrapy_rep.protocol"
    identifiers = re.findall(r"^::: (\S+)$", PAGES["docs/reference/protocol.md"], re.MULTILINE)
    assert identifiers == [
        f"{package}.{name}.{name}" if importlib.util.find_spec(f"{package}.{name}") else f"{package}.{name}"
        for name in scrapy_rep.protocol.__all__
    ]


def test_the_page_of_directives_has_exactly_the_public_names() -> None:
    identifiers = re.findall(r"^::: (\S+)$", PAGES["docs/reference/directives.md"], re.MULTILINE)
    assert identifiers == [f"scrapy_rep.directives.{name}" for name in scrapy_rep.directives.__all__]


def test_the_methods_that_the_api_page_lists_exist() -> None:
    listed = re.findall(
        r"^::: (\S+)\n    options:\n(?:      .*\n)*?      members: \[(.+)\]",
        PAGES["docs/reference/api.md"],
        re.MULTILINE,
    )
    assert len(listed) >= 2
    for path, members in listed:
        assert all(hasattr(load_object(path), member) for member in members.split(", "))


def test_every_room_is_named() -> None:
    cells = re.findall(r"^\| (`.+?) \|", section(PAGES["docs/architecture.md"], "## The rooms"), re.MULTILINE)
    documented = set(re.findall(r"`(\w+)`", " ".join(cells)))
    package = ROOT / "scrapy_rep"
    folders = {
        path.parent.name for way in ("", "crawl/", "extras/") for path in package.glob(f"{way}*/__init__.py")
    }
    assert documented >= folders
    assert documented <= folders | set(ROOMS)


def test_every_file_and_method_that_the_architecture_names_exists() -> None:
    text, package = PAGES["docs/architecture.md"], ROOT / "scrapy_rep"
    files = set(re.findall(r"`([\w/]+\.py)`", text)) - {"settings.py"}  # that one is of a project
    known = [path.as_posix() for folder in (package, ROOT / "tests") for path in folder.rglob("*.py")]
    assert files >= {"crawl/policy/policy.py", "pacing/slots.py"}
    assert [file for file in files if not any(one.endswith(f"/{file}") for one in known)] == []
    classes: dict[str, str] = {}
    for path in package.rglob("*.py"):
        source = path.read_text("utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] = classes.get(node.name, "") + str(ast.get_source_segment(source, node))
    methods = re.findall(r"`([A-Z]\w+)\.(\w+)(?:\([\w, ]*\))?`", text)
    assert len(methods) >= 30
    assert [f"{name}.{of}" for name, of in methods if not re.search(rf"\b{of}\b", classes.get(name, ""))] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_python_in_a_page_is_python(page: str) -> None:
    for block in blocks(PAGES[page], "python"):
        if not block.startswith(">>>"):
            ast.parse(block)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "\n>>> " in text])
def test_the_examples_of_a_page_are_true(page: str) -> None:
    assert doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8").failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_the_settings_in_the_examples_of_a_page_can_be_used(page: str) -> None:
    text = PAGES[page]
    found = [pair for block in blocks(text, "python") if ">>>" not in block for pair in assignments(block)]
    found += [(name, ast.literal_eval(value)) for name, value in re.findall(r"`(REP_\w+) = ([^`]+)`", text)]
    for name, value in found:
        is_in_the_project = str(value).startswith(("example.", "myproject."))
        if name.startswith("REP_") and not is_in_the_project:
            RepSettings.from_settings(Settings({name: value}))


@pytest.mark.parametrize("page", PAGES)
def test_the_components_and_imports_in_the_examples_of_a_page_exist(page: str) -> None:
    for block in blocks(PAGES[page], "python"):
        for path in re.findall(r"\"(scrapy_rep\.[\w.]+)\"", block):
            is_plugin = path.endswith(".plugin")  # of pytest: a module
            assert importlib.util.find_spec(path) if is_plugin else load_object(path)
        for module, imported in re.findall(r"^from (scrapy_rep\S*) import ([\w, ]+)$", block, re.MULTILINE):
            assert all(hasattr(import_module(module), name) for name in imported.split(", "))


def test_the_table_of_dialects_is_that_of_the_code() -> None:
    table = rows(section(PAGES["docs/dialects.md"], "## The data"))
    found: dict[str, dict[str, str]] = {}
    for field in FIELDS:
        _, of_google, others = table[field]
        found[field] = dict.fromkeys(DIALECTS, of_google)
        for part in filter(None, others.split("; ")):
            value, _, where = part.partition(": ")
            named = set(re.findall(r"`([\w-]+)`", where))
            meant = DIALECTS.keys() - {"google"} - named if where.startswith("all but") else named
            found[field].update(dict.fromkeys(meant, value))
    assert found == {
        field: {name: as_cell(getattr(dialect, field)) for name, dialect in DIALECTS.items()} for field in FIELDS
    }


FIELDS = [field.name for field in dataclasses.fields(Dialect) if field.init and field.name != "name"]


def test_the_page_of_profiles_says_what_is_known_of_each_crawler_and_where_from() -> None:
    page = PAGES["docs/profiles.md"]
    groups = {**_cells(section(page, "## Which group counts"))}
    assert groups == {
        each.token: (f"the group of `{other}`{_FOR_ALL[each.ignores_star]}", _cited(each.other_documents[0]))
        for each in CRAWLERS
        for other in each.fallbacks
    } | {
        each.token: ("none; not that for `*` either", _cited(each.source))
        for each in CRAWLERS
        if each.ignores_star and not each.fallbacks
    }
    assert _cells(section(page, "## Who reads Crawl-delay")) == {
        each.token: (as_cell(each.reads_crawl_delay), _cited(each.other_documents[-1]))
        for each in CRAWLERS
        if each.reads_crawl_delay is not None
    }
    disobey = {Follows.NOTHING: "never", Follows.PARTLY: "not always"}
    assert _cells(section(page, "## Who does not follow robots.txt")) == {
        each.token: (disobey[each.follows], _cited(each.source))
        for each in CRAWLERS
        if each.follows in disobey and each.category is not Category.TOOL
    }


_FOR_ALL = {False: ", or else that for `*`", True: "; not that for `*`"}


def _cells(text: str) -> dict[str, tuple[str, str]]:
    """The second and the third cell of the row of each crawler."""
    found = re.findall(r"^\| (`.+?) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    return {token: (what, source) for names, what, source in found for token in re.findall(r"`(.+?)`", names)}


def _cited(source: Source) -> str:
    return f"{source.title} ({source.owner}, {source.date})"


def as_cell(value: object) -> str:
    """How the page writes the value of a field of a dialect."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return value.name.lower().replace("_", " ")
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    return f"`{value}`" if value else "none"


def test_every_dialect_has_its_row_with_its_source() -> None:
    assert list(rows(PAGES["docs/dialects.md"].partition("## ")[0])) == [*DIALECTS]


@pytest.mark.parametrize(
    "pages",
    ["docs/reference/commands/", "docs/howto/ci.md", "docs/howto/lint-in-a-project.md", "docs/dialects.md"],
)
def test_what_commands_are_shown_to_print_is_what_they_print(
    pages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scrapy_rep.clock.clock.time", lambda: 1_795_348_800.0)  # 2026-11-22, noon
    ran = 0
    for block in blocks("".join(text for name, text in PAGES.items() if name.startswith(pages)), "console"):
        if not block.startswith("$ cat ") or (".toml" in block and sys.version_info < (3, 11)):
            continue
        for call, printed in commands(block):
            if call[0] == "cat":
                (tmp_path / call[1]).write_text(printed)
            else:
                assert run_robots(call[2], call[3:]) == (1, printed)
                ran += 1
    assert ran >= 2


def shape(line: str) -> str:
    """A *line* of a log without its figures and origins."""
    return re.sub(r"http://[\d.:]+\d|\d[\d.]*", "#", re.sub(r"^[A-Z]+: ", "", line))


def test_the_lines_of_a_log_that_pages_show_are_those_of_a_crawl(tmp_path: Path) -> None:
    settings = {"USER_AGENT": "ExampleBot", "REP_RETRY_TIMES": 1, "REP_RETRY_DELAY": 0.05}
    with Site(("127.0.0.1", "127.0.0.2")) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.1\nDisallow: /private\n"))
        site.answer("/robots.txt", Answer(500), site.origins[1])
        site.answer("/busy", sequence(Answer(429, headers=[("Retry-After", "1")]), Answer()))
        good, bad = ([f"{origin}/{page}" for page in range(5)] for origin in site.origins)
        crawls = [crawl(*good, f"{site.origin}/private", settings=settings), crawl(*bad, settings=settings)]
        crawls.append(crawl(f"{site.origin}/busy", settings=settings))
        site.answer("/robots.txt", Answer(403), site.origins[1])
        crawls.append(crawl(*bad, settings=settings))
        site.answer("/robots.txt", Answer(404), site.origin)
        site.answer("/busy", Answer(429, headers=[("Retry-After", "598")]))
        shared = {**settings, "REP_STORE_PATH": str(tmp_path / "store"), "CLOSESPIDER_TIMEOUT": 1}
        crawls += [crawl(f"{site.origin}/busy", settings=shared), crawl(*good, settings=shared)]
    logged = {shape(line.message) for result in crawls for line in result.log}
    pages = ["howto/slow", "unreachable", "howto/existing-project", "backoff", "crawl-delay"]
    shown = [
        line for page in pages for block in blocks(PAGES[f"docs/{page}.md"], "text") for line in block.splitlines()
    ]
    of_log = [
        line
        for line in shown
        if re.match(r"(INFO: |WARNING: )?(robots\.txt|Longest|Product|127|1 host|No page|http:)", line)
    ]
    assert len(of_log) >= 10
    assert {shape(line) for line in of_log} <= logged


@pytest.mark.full
def test_the_site_builds_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    for page in tmp_path.rglob("*.html"):
        html = page.read_text("utf-8")
        assert not re.findall(r"<(?:script|img|iframe)[^>]+src=[\"']?(?:https?:)?//", html)
        assert not re.findall(r"<link[^>]+rel=[\"']?(?:stylesheet|preconnect)[^>]+href=[\"']?(?:https?:)?//", html)
    assert len(list(tmp_path.rglob("index.html"))) == len(list(DOCS.rglob("*.md")))


def test_every_code_with_a_fix_has_its_row() -> None:
    text = section(PAGES["docs/howto/lint-in-a-project.md"], "## Fix what is safe to fix")
    cells = re.findall(r"^\| ((?:`[a-z0-9-]+`(?:, )?)+) \|", text, re.MULTILINE)
    assert sorted(re.findall(r"`([a-z0-9-]+)`", " ".join(cells))) == sorted(FIXABLE)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no TOML reader")
def test_the_configuration_of_the_linter_that_is_shown_can_be_read(tmp_path: Path) -> None:
    (block,) = blocks(PAGES["docs/howto/lint-in-a-project.md"], "toml")
    (tmp_path / "robots-lint.toml").write_text(block)
    config = read_config(tmp_path / "robots-lint.toml")
    assert (config.select, config.include) == (Config().select, Config().include)
