"""Every message of the package, to be read from top to bottom: ``python -m tests.support.messages``.

A message is a text that a person sees: a log line, an exception, the help of an argument, a warning. They are
found in the code, so none is forgotten; ``{}`` stands for what is filled in. Lint findings have pages, which
``tests.support.lint_pages`` writes.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

PACKAGE: Final = Path(__file__).parents[2] / "scrapy_rep"

_LOGGERS: Final = {"debug", "info", "warning", "error", "critical", "exception", "log", "warn"}
_CALLS: Final = _LOGGERS | {"add", "add_argument", "_say", "print_warning", "error", "exit"}
_WORDS: Final = re.compile(r"[A-Za-z]{2,}.* .*[A-Za-z]{2,}", re.DOTALL)


class Message(NamedTuple):
    """A ``text`` at a ``line`` of a ``file``."""

    file: Path
    line: int
    text: str


def messages() -> Iterator[Message]:
    """The messages of all modules, in the order of files and lines."""
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_bytes())
        constants = dict(_constants(tree))
        seen: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call | ast.Raise):
                for text in _texts(node, constants):
                    if _WORDS.search(text) and text not in seen:
                        seen.add(text)
                        yield Message(file, node.lineno, text)


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(target, ast.Name)
            and node.value is not None
        ):
            text = _text(node.value)
            if text is not None:
                yield target.id, text


def _texts(node: ast.Call | ast.Raise, constants: dict[str, str]) -> Iterator[str]:
    """The messages in a call of a logger, a parser or an exception that is raised."""
    call = node.exc if isinstance(node, ast.Raise) else node
    if not isinstance(call, ast.Call):
        return
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if isinstance(node, ast.Raise) or name in _CALLS or name.endswith(("Error", "Exception")):
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
            for part in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                text = constants.get(part.id) if isinstance(part, ast.Name) else _text(part)
                if text is not None:
                    yield text


def _text(node: ast.expr) -> str | None:
    """The text of a literal, with ``{}`` for what is filled in; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each) or "{}" for each in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_text(node.left), _text(node.right)]
        return "".join(part or "{}" for part in parts) if any(parts) else None
    return None


def listed() -> Iterator[str]:
    """The lines of the list: the messages under the name of their file."""
    for file, found in groupby(messages(), key=lambda message: message.file):
        yield f"\n{file.relative_to(PACKAGE)}"
        yield from (f"{message.line:5}  {' '.join(message.text.split())}" for message in found)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in listed())
