from collections.abc import Callable

from .rules import Verdict

def path_of(url: str | bytes, /) -> bytes | None: ...

class Rules:
    by_name: bool
    def __init__(
        self, body: bytes, name: tuple[bytes | None, bool], canonical_octets: bool, no_rule: Verdict,
        itself: Verdict | None, judge: Callable[[bool, bytes, int], Verdict], /,
    ) -> None: ...  # fmt: skip
    def verdict(self, path: bytes, /) -> Verdict: ...
