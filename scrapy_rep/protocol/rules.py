"""The rules for one crawler: what they allow and disallow, before anything is known of patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .path_pattern import COMMON

_COMMON_OR_LF: Final = COMMON + b"\n"
_INDEX_PAGE: Final = b"/index.htm"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for one crawler: their paths as written, in the order of their lines, each between LFs.

    In one piece they take a third of the memory of a list.
    """

    allow: bytes
    disallow: bytes

    @classmethod
    def of(cls, allow: list[bytes], disallow: list[bytes]) -> Rules:
        """The rules with these paths."""
        return cls(_between_lfs(allow), _between_lfs(disallow))

    @property
    def paths(self) -> list[bytes]:
        """All paths, first those that allow: of two that are equally long the first wins."""
        return _between(self.allow) + _between(self.disallow)

    @property
    def places(self) -> dict[bytes, int]:
        """The first place of each of the paths."""
        paths = self.paths
        return {path: len(paths) - place for place, path in enumerate(reversed(paths))}

    def precedes(self, path: bytes, other: bytes) -> bool:
        """Whether *path* comes first in `paths`."""
        paths = self.allow[:-1] + self.disallow
        return paths.find(b"\n%b\n" % path) < paths.find(b"\n%b\n" % other)

    @property
    def has_patterns(self) -> bool:
        """Whether there may be more than plain prefixes."""
        return bool(self.allow.translate(None, _COMMON_OR_LF) or self.disallow.translate(None, _COMMON_OR_LF))

    def folders_of_index_pages(self) -> list[tuple[bytes, bytes]]:
        """Patterns for folders, each with the path of its index page.

        Google's parser tries ``…/index.htm…`` as ``…/$``, for allow only.
        """
        found = []
        for path in _between(self.allow) if _INDEX_PAGE in self.allow else ():
            folder, slash, page = path.rpartition(b"/")
            if slash and page.startswith(_INDEX_PAGE[1:]):
                found.append((folder + b"/$", path))
        return found

    def has_allow(self, path: bytes) -> bool:
        """Whether an allow record has this *path*: it wins over a disallow record with the same one."""
        return b"\n%b\n" % path in self.allow


def _between_lfs(paths: list[bytes]) -> bytes:
    return b"\n".join([b"", *paths, b""]) if paths else b"\n"


def _between(text: bytes) -> list[bytes]:
    return text.split(b"\n")[1:-1]
