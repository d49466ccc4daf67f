"""Google's own parser, built of its source, and what the dialects of Google's answer beside it."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from array import array
from collections.abc import Sequence
from ctypes import CDLL, c_char_p, c_size_t, c_void_p, create_string_buffer
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from fuzz.cases import DifferenceError, paths, tokens
from fuzz.targets.rules import is_by_slow_reference
from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, RobotsTxt, parse, path_of
from scrapy_rep.protocol.path_pattern import Pattern, octets
from scrapy_rep.protocol.rules import ROBOTS_TXT
from tests.protocol import any_body

_SPEEDUPS: Final = Path(__file__).parents[1] / "scrapy_rep" / "protocol" / "_speedups.c"
_LIBRARY: Final = "c++ -std=c++17 -O2 -DNDEBUG -fPIC -shared"
_GUIDED: Final = "{} -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined"
_ABSEIL: Final = "pkg-config --cflags --libs absl_strings absl_fixed_array"
_NARROW_NAME: Final = re.compile("[A-Za-z_-]+")


def build_guided(source: Path, program: Path) -> None:
    """Build *program*, of libFuzzer, which compares the part in C with the parser in *source*, by clang."""
    of_python, version = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDVERSION")
    include, compiled = f"-I{sysconfig.get_path('include')}", f"{program}.o"
    python = [include, f"-L{of_python}", f"-Wl,-rpath,{of_python}", f"-lpython{version}"]
    subprocess.run([*_GUIDED.format("clang").split(), include, "-c", str(_SPEEDUPS), "-o", compiled], check=True)
    _build(_GUIDED.format("clang++ -std=c++17"), "google_guided.cc", source, [compiled, *python], program)


def _build(command: str, bridge: str, source: Path, more: Sequence[str], target: Path) -> None:
    abseil = subprocess.run(_ABSEIL.split(), stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    files = [str(Path(__file__).with_name(bridge)), str(source / "robots.cc")]
    subprocess.run([*command.split(), f"-I{source}", *files, *more, *abseil, "-o", str(target)], check=True)


class Google:
    """The parser in *source*, a folder with robots.cc and robots.h; C++, pkg-config and Abseil build it."""

    def __init__(self, source: Path) -> None:
        with TemporaryDirectory() as folder:
            library = Path(folder, "google.so")
            _build(_LIBRARY, "google.cc", source, [], library)
            functions = CDLL(str(library))
        self._answers, self._path = functions.google_answers, functions.google_path
        text = (c_char_p, c_size_t)
        self._answers.argtypes = (*text, *text, c_char_p, c_void_p, c_size_t, c_void_p)
        self._path.argtypes, self._path.restype = (*text, c_char_p), c_size_t

    def compare(self, body: bytes, random: Random) -> int:
        """Ask about *body*, and answer how many cases that were; `DifferenceError` if one differs."""
        exact, default = (parse(body, dialect, limit=None) for dialect in (GOOGLE_EXACT, GOOGLE))
        groups = exact.groups
        names = [*dict.fromkeys([*tokens(random, groups), *any_body.TOKENS])]
        asked = paths(random, [rule for group in groups for rule in group.rules])
        urls = [b"https://h.example" + path if path.startswith(b"/") else path for path in asked]
        exact_paths, default_paths = (_paths_of(urls, file.dialect) for file in (exact, default))
        differing = []
        for name in names:
            theirs = self._answers_for(name, body, urls)
            for at in _differing(_ours(exact, name, exact_paths), theirs):
                raise DifferenceError("google-exact", name, urls[at], theirs[at], body)
            others = _differing(_ours(default, name, default_paths), theirs)
            differing += [(name, default_paths[at], exact_paths[at]) for at in others]
        if differing:
            _require_deviations(default, differing, random)
        return len(names) * len(urls)

    def compare_url(self, url: str) -> None:
        """Find the path of *url*."""
        asked, found = octets(url), path_of(url, canonical_octets=False)
        path = create_string_buffer(len(asked) + 2)
        length = self._path(asked, len(asked), path)
        theirs = path.raw[:length]
        if found != theirs:
            raise DifferenceError(url, found, theirs)

    def _answers_for(self, name: str, body: bytes, urls: Sequence[bytes]) -> list[int]:
        """For each of *urls* twice the line that decides, and one more if it is allowed."""
        ends, found = array("Q", accumulate(map(len, urls))), array("i", bytes(4 * len(urls)))
        first, last, agent = ends.buffer_info()[0], found.buffer_info()[0], octets(name)
        self._answers(body, len(body), agent, len(agent), b"".join(urls), first, len(urls), last)
        return found.tolist()


def _paths_of(urls: Sequence[bytes], dialect: Dialect) -> list[bytes]:
    texts = (url.decode("utf-8", "surrogateescape") for url in urls)
    return [path_of(text, canonical_octets=dialect.canonical_octets) for text in texts]


def _ours(file: RobotsTxt, name: str, asked: Sequence[bytes]) -> list[int]:
    verdicts = (file.verdict_on_path(name, path) for path in asked)
    return [2 * rule.line + allowed if rule else allowed for allowed, rule, _ in verdicts]


def _differing(ours: Sequence[int], theirs: Sequence[int]) -> list[int]:
    if ours == theirs:
        return []
    return [at for at, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]


def _require_deviations(file: RobotsTxt, differing: Sequence[tuple[str, bytes, bytes]], random: Random) -> None:
    """Whether a documented deviation is why the dialect ``google`` answers otherwise, for each name and path.

    The path comes in its own spelling and as Google's parser has it. One of the answers is compared with the slow
    reference.
    """

    @cache
    def are_respelt(name: str) -> bool:
        values = [rule.value for rule in file.rules(name)]
        return any(Pattern.of(each) != Pattern.of(each, canonical_octets=False) for each in values)

    for name, own, theirs in differing:
        if own == theirs != ROBOTS_TXT and _NARROW_NAME.fullmatch(name) and not are_respelt(name):
            raise DifferenceError("google", name, own, file.body)
    name, path, _ = random.choice(differing)
    if not is_by_slow_reference(file.verdict_on_path(name, path), file.rules(name), path, GOOGLE):
        raise DifferenceError("google, the slow reference", name, path, file.body)
