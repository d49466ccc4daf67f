"""The engines that run a target for some seconds: libFuzzer, for Python or for C, chance, or nothing new."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from .google import build_guided
from .mutation import edited
from .seeds import seeds
from .targets import TARGETS, Target
from .words import WORDS

_ROOT: Final = Path(__file__).parents[1]
_ROUND: Final = 200  # inputs from one look at the clock to the next
_LONGEST_INPUT: Final = 2_000  # octets
_SLOWEST: Final = 20  # seconds for one input
_MOST_MEMORY: Final = 2_048  # MiB
_PROGRESS: Final = re.compile(r"^#\d+\s.*?cov: (\d+) ft: (\d+) corp: (\d+)", re.MULTILINE)
_EXECUTIONS: Final = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Folders:
    """Where inputs are kept: ``corpus`` has those that reach something new, ``found`` those that fail."""

    corpus: Path
    found: Path

    @classmethod
    def of(cls, folder: Path, target: str) -> Folders:
        """The folders for *target* below *folder*; they are made."""
        folder = folder.resolve()
        folders = cls(folder / "corpus" / target, folder / "found" / target)
        for each in (folders.corpus, folders.found):
            each.mkdir(parents=True, exist_ok=True)
        return folders


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run did; ``edges`` and ``features`` are those of libFuzzer, 0 without it.

    ``corpus`` is the number of inputs kept, ``found`` are the files of those that fail, ``log`` says how.
    """

    target: str
    executions: int
    seconds: float
    edges: int = 0
    features: int = 0
    corpus: int = 0
    found: tuple[Path, ...] = ()
    log: str = ""


Engine = Callable[[str, float, Folders], Outcome]
"""Runs a target for so many seconds."""


def _in_dictionary(word: bytes) -> str:
    """The line of a dictionary of libFuzzer for *word*."""
    octets = "".join(f"\\x{octet:02x}" for octet in word)
    return f'"{octets}"\n'


def has_atheris() -> bool:
    """Whether atheris is installed."""
    return importlib.util.find_spec("atheris") is not None


def with_atheris(target: str, seconds: float, folders: Folders) -> Outcome:
    """Run *target* in a process of libFuzzer, which keeps every input that reaches a new edge."""
    return _with_libfuzzer([sys.executable, "-m", "fuzz.guided", target], target, seconds, folders)


def with_google(source: Path, target: str, seconds: float, folders: Folders) -> Outcome:
    """Run the part in C, with sanitizers, beside Google's parser, from *source*, on inputs of *target*."""
    with TemporaryDirectory() as temporary:
        program = Path(temporary, "guided")
        build_guided(source, program)
        of_python = ["env", f"PYTHONHOME={sys.base_prefix}", "PYTHONMALLOC=malloc"]
        return _with_libfuzzer([*of_python, str(program)], target, seconds, folders)


def _with_libfuzzer(command: list[str], target: str, seconds: float, folders: Folders) -> Outcome:
    for data in seeds(target):
        _save(folders.corpus, data)
    began = time.monotonic()
    with TemporaryDirectory() as temporary:
        words, artifacts = Path(temporary, "words"), Path(temporary, "artifacts")
        words.write_text("".join(map(_in_dictionary, WORDS)), "ascii")
        artifacts.mkdir()
        log = _output(
            temporary, *command, f"-max_total_time={max(1, round(seconds))}", f"-max_len={_LONGEST_INPUT}",
            f"-timeout={_SLOWEST}", f"-rss_limit_mb={_MOST_MEMORY}", f"-dict={words}",
            f"-artifact_prefix={artifacts}/", "-print_final_stats=1", str(folders.corpus),
        )  # fmt: skip
        found = tuple(_save(folders.found, _in_short(target, file)) for file in sorted(artifacts.iterdir()))
    executions, progress = _EXECUTIONS.findall(log), _PROGRESS.findall(log)
    if not executions:
        raise RuntimeError(f"libFuzzer did not run:\n{log}")
    edges, features, corpus = map(int, progress[-1]) if progress else (0, 0, 0)
    spent = time.monotonic() - began
    return Outcome(target, int(executions[-1]), spent, edges, features, corpus, found, log if found else "")


def _output(temporary: str, *command: str) -> str:
    """What *command* prints; its files go to *temporary*."""
    process = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        cwd=_ROOT, env=os.environ | {"TMPDIR": temporary},
    )  # fmt: skip
    return process.stdout


def _in_short(target: str, artifact: Path) -> bytes:
    """The input in a file of libFuzzer, minimised unless it took too long, or too much memory."""
    data = artifact.read_bytes()
    return minimised(TARGETS[target], data) if artifact.name.startswith("crash-") else data


def at_random(target: str, seconds: float, folders: Folders) -> Outcome:
    """Run *target* on edited seeds, in this process, until it fails or the time is over."""
    run, began, random = TARGETS[target], time.monotonic(), Random()  # noqa: S311
    kept, log, number = _kept(target, folders), "", 0
    while not log and (number % _ROUND or not number or time.monotonic() - began < seconds):
        data = edited(random, random.choice(kept))
        log = _why_failed(partial(run, data))
        number += 1
    found = (_save(folders.found, minimised(run, data)),) if log else ()
    return Outcome(target, number, time.monotonic() - began, found=found, log=log)


def replay(target: str, seconds: float, folders: Folders) -> Outcome:  # noqa: ARG001  # as long as it takes
    """Run *target* once on each seed, and on each input of its corpus."""
    run, began, kept = TARGETS[target], time.monotonic(), _kept(target, folders)
    failed = {data: log for data in kept if (log := _why_failed(partial(run, data)))}
    found = [_save(folders.found, minimised(run, data)) for data in failed]
    spent = time.monotonic() - began
    return Outcome(target, len(kept), spent, found=tuple(found), log="\n".join(failed.values()))


def _kept(target: str, folders: Folders) -> list[bytes]:
    """The seeds of *target*, and the inputs of its corpus."""
    return [*seeds(target), *(file.read_bytes() for file in sorted(folders.corpus.iterdir()))]


def _why_failed(run: Callable[[], object]) -> str:
    """The traceback of what *run* raises; empty if it raises nothing."""
    try:
        run()
    except Exception:  # noqa: BLE001  # whatever a target raises is a find
        return traceback.format_exc()
    return ""


ENGINES: Final[dict[str, Engine]] = {"atheris": with_atheris, "random": at_random, "replay": replay}
"""The engines by name."""


def minimised(target: Target, data: bytes) -> bytes:
    """*data* without pieces that it does not need to fail in the same way; as it is if it does not fail here."""
    flaw = _flaw(target, data)
    size = len(data) // 2 if flaw else 0
    while size:
        at = 0
        while at < len(data):
            shorter = data[:at] + data[at + size :]
            if _flaw(target, shorter) == flaw:
                data = shorter
            else:
                at += size
        size //= 2
    return data


def _flaw(target: Target, data: bytes) -> tuple[type[Exception], int] | None:
    """How *target* fails with *data*: the exception and the innermost line; None if it does not."""
    try:
        target(data)
    except Exception as error:  # noqa: BLE001  # whatever a target raises is a find
        trace = error.__traceback__
        while trace and trace.tb_next:
            trace = trace.tb_next
        return type(error), trace.tb_lineno if trace else 0
    return None


def _save(folder: Path, data: bytes) -> Path:
    """The file of *data* in *folder*, named by its content."""
    path = folder / sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path
