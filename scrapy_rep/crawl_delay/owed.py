"""The delays that the origins sharing one download slot ask for."""

from __future__ import annotations

from scrapy_rep.protocol import Origin

Asker = tuple[Origin, tuple[str, ...]]
"""Whose robots.txt asks, and under which product tokens it was read."""


class Owed:
    """What one download slot owes; ``floor`` is the largest of the delays asked for, in seconds."""

    __slots__ = ("_delays", "floor")

    def __init__(self) -> None:
        self.floor = 0.0
        self._delays: dict[Asker, float] = {}

    def put(self, asker: Asker, seconds: float) -> None:
        """*asker* asks for *seconds* now; 0 for nothing."""
        before = self._delays.pop(asker, 0.0)
        if seconds:
            self._delays[asker] = seconds
        if seconds >= self.floor:
            self.floor = seconds
        elif before == self.floor:
            self.floor = max(self._delays.values(), default=0.0)
