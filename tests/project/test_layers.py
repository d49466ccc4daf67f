"""Imports go one way: rooms import rooms below them alone, and no modules import each other in a circle."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support.rooms import rank

ROOT = Path(__file__).parents[2] / "scrapy_rep"
LAZY = {"scrapy_rep"}
"""Loads public names of all rooms on first use."""

PUBLIC = {"Source"}
"""A public name of three rooms: of directives, of robots.txt files, of facts about crawlers."""

PURE = ("scrapy_rep.protocol", "scrapy_rep.tools.lint")

STANDARD_LIBRARY = sys.stdlib_module_names | {"tomllib", "tomli"}  # the latter for Python 3.10, without the former

MODULES = {".".join(file.relative_to(ROOT.parent).with_suffix("").parts): file for file in ROOT.rglob("*.py")}
MODULES = {name.removesuffix(".__init__"): file for name, file in sorted(MODULES.items())}


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_bytes())


@cache
def imports(name: str) -> frozenset[str]:
    """What a module imports, but for the version, which is there before anything is loaded."""
    return frozenset(_imports(name))


def _imports(name: str) -> Iterator[str]:
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes(tree(name), for_types=name not in LAZY):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            members = (f"{home}.{alias.name}" for alias in node.names if alias.name != "__version__")
            yield from (member if member in MODULES else home for member in members)


def nodes(start: ast.AST, *, for_types: bool) -> Iterator[ast.AST]:
    """The nodes below *start*, those below ``if TYPE_CHECKING`` only *for_types*."""
    for node in ast.iter_child_nodes(start):
        if for_types or not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from nodes(node, for_types=for_types)


def ours(name: str) -> set[str]:
    return {module for module in imports(name) if module.startswith("scrapy_rep")}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "scrapy_rep"])
def test_a_module_imports_its_own_room_and_lower_ones(name: str) -> None:
    assert "scrapy_rep" not in ours(name), "nobody imports the package root"
    upward = {module for module in ours(name) if rank(module) > rank(name)}
    assert not upward, f"an arrow from {name} to {upward} points up"


def classes(name: str) -> Iterator[ast.ClassDef]:
    yield from (node for node in ast.walk(tree(name)) if isinstance(node, ast.ClassDef))


def test_no_two_classes_have_the_same_name() -> None:
    number = Counter(node.name for name in MODULES for node in classes(name))
    assert {name for name in number if number[name] > 1} == PUBLIC


def methods(node: ast.ClassDef) -> set[str]:
    """What a class defines of its own: functions, and fields that are only declared."""
    functions = {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    fields = {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
    return functions | fields


def is_abstract(node: ast.ClassDef) -> bool:
    """Whether a class only says what others do: it is a protocol, or has an abstract base or method."""
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in (*node.bases, *node.keywords)}
    marks = {ast.unparse(mark) for each in ast.walk(node) for mark in getattr(each, "decorator_list", ())}
    return bool({"ABC", "Protocol", "metaclass=ABCMeta"} & bases) or "abstractmethod" in marks


def climbs(lower: str, interface: ast.ClassDef, higher: str, node: ast.ClassDef) -> bool:
    """Whether what is called by *interface* of the module *lower* is done by a class of a higher room."""
    if rank(higher) <= rank(lower):
        return False
    wanted = {method for method in methods(interface) if not method.startswith("_")}
    is_heir = interface.name in {ast.unparse(base).partition("[")[0] for base in node.bases}
    return is_heir or (len(wanted) > 1 and wanted <= methods(node))


def test_no_call_goes_up_through_an_abstract_class() -> None:
    found = [(name, node) for name in MODULES if name != "scrapy_rep" for node in classes(name)]
    interfaces = [(name, node) for name, node in found if is_abstract(node)]
    assert {"Store"} <= {node.name for _, node in interfaces}, "the test sees them"
    interfaces = [(name, node) for name, node in interfaces if node.name != "Store"]  # a project may have its own
    upward = [
        f"{interface.name} of {lower} is done by {node.name} of {higher}"
        for lower, interface in interfaces
        for higher, node in found
        if climbs(lower, interface, higher, node)
    ]
    assert not upward


def test_no_modules_import_each_other_in_a_circle() -> None:
    list(TopologicalSorter({name: ours(name) - {name} for name in MODULES}).static_order())


def test_all_go_by_one_clock_but_what_asks_that_of_scrapy_and_what_sleeps_in_a_thread() -> None:
    others = {"scrapy_rep.crawl.runtime.scrapy_internals", "scrapy_rep.extras.audit.audit_log"}
    assert {name for name in MODULES if "time" in imports(name)} == {"scrapy_rep.clock", *others}


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith((*PURE, "scrapy_rep.directives"))])
def test_protocol_directives_and_linter_import_the_standard_library_and_themselves(name: str) -> None:
    roots = {module.partition(".")[0] for module in imports(name)}
    assert roots - STANDARD_LIBRARY <= {"scrapy_rep"}, f"{name} imports what it must not: {roots}"


def loaded_by(code: str) -> set[str]:
    """The modules of ours and of Scrapy's that *code* loads in a new process."""
    code += "\nimport sys; print(*(name for name in sys.modules if name.startswith(('scrapy', 'twisted'))))"
    return set(subprocess.check_output([sys.executable, "-c", code], text=True).split())


def test_importing_the_protocol_imports_no_tool_and_no_scrapy() -> None:
    loaded = loaded_by("from scrapy_rep.protocol import parse")
    assert {name for name in loaded if not name.startswith("scrapy_rep.protocol")} == {"scrapy_rep"}


@pytest.mark.parametrize(
    ("code", "room"),
    [
        ("from scrapy_rep import explain, lint", "scrapy_rep.tools.lint"),
        ("from scrapy_rep.tools.commands.lint import main", "scrapy_rep.tools.lint"),
        ("from scrapy_rep.tools.commands.explain import main", "scrapy_rep.tools.explanation"),
        ("from scrapy_rep.tools.commands.serve import main", "scrapy_rep.tools.commands"),
        ("from scrapy_rep.tools import answers", "scrapy_rep.tools.answers"),
        ("from scrapy_rep.tools.audit import sentences", "scrapy_rep.tools.audit"),
        ("from scrapy_rep.census import rows", "scrapy_rep.census"),
        ("from scrapy_rep.tools.survey import report, comparison_report", "scrapy_rep.tools.survey"),
        ("from scrapy_rep.tools.bulk import decide, open_source", "scrapy_rep.tools.bulk"),
        ("from scrapy_rep.tools.web import app", "scrapy_rep.tools.web"),
    ],
)
def test_what_needs_no_crawl_imports_no_scrapy(code: str, room: str) -> None:
    loaded = loaded_by(code)
    assert room in loaded
    assert {name for name in loaded if not name.startswith("scrapy_rep")} == set()


OF_NO_ROOM = {"tests", "project", "support"}


def test_the_folders_of_tests_mirror_the_package() -> None:
    tests = Path(__file__).parents[1]
    folders = {file.parent for file in tests.rglob("__init__.py") if file.parent.name not in OF_NO_ROOM}
    assert len(folders) > 20
    assert {str(folder) for folder in folders if not (ROOT / folder.relative_to(tests)).is_dir()} == set()


FOREIGN = re.compile(r"audit|redis|playwright|splash|licen[cs]e|\btdm|\brsl\b", re.IGNORECASE)
"""Words of the extras. The crawl names none of them."""


@pytest.mark.parametrize("file", sorted((ROOT / "crawl").rglob("*.py")), ids=lambda file: file.stem)
def test_the_crawl_names_no_extra(file: Path) -> None:
    assert [line for line in file.read_text("utf-8").split("\n") if FOREIGN.search(line)] == []
