"""Everything that one robots.txt says to one crawler about the use of pages by AI, ready for many URLs.

What belongs to the group is read once. A URL costs a look into the rules with paths, and nothing where the file
has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scrapy_rep.protocol import RobotsTxt
from scrapy_rep.protocol.other_records import outside_groups
from scrapy_rep.protocol.path_pattern import path_of

from . import ai_training, content_signal, content_usage, rsl
from .answers import Statement
from .path_rules import PathRules

_USAGE: Final = b"content-usage"
_SIGNAL: Final = b"content-signal"
_LICENSE: Final = b"license"
_TRAINING: Final = b"allowaitraining"


class RobotsSignals:
    """The signals of a robots.txt for the crawler with one product token.

    ``licenses`` are the URLs of its RSL licenses. Whoever keeps the parsed file may keep this as long: a fetch
    brings a new one, because the file at the time of the fetch counts (attach-05, "When Preferences Apply").
    """

    __slots__ = ("_by_path", "_of_group", "licenses")

    def __init__(
        self, by_path: Iterable[PathRules] = (), of_group: Iterable[Statement] = (), licenses: Iterable[str] = ()
    ) -> None:
        self.licenses = tuple(licenses)
        self._by_path = tuple(rules for rules in by_path if rules)
        self._of_group = tuple(of_group)

    @classmethod
    def of(cls, robotstxt: RobotsTxt, token: str) -> RobotsSignals:
        """Return the signals for the crawler called *token*; `NO_SIGNALS` where there are none."""
        text = robotstxt.body.lower()  # most files hold none of the keys, and are not read any further
        training = [ai_training.rules_in(robotstxt, token)] if _TRAINING in text else []
        if not any(key in text for key in (_USAGE, _SIGNAL, _LICENSE)):
            return cls(training) or NO_SIGNALS
        own = robotstxt.extensions_for(token)
        usage = content_usage.rules_in(own)
        of_group, licenses = content_signal.signals_in(own), rsl.urls_in(own)
        if (_SIGNAL in text and not of_group) or (_LICENSE in text and not licenses):
            outside = outside_groups(robotstxt.extensions)
            of_group = of_group or content_signal.signals_in(outside, irregular=True)
            licenses = licenses or rsl.urls_in(outside)
        return cls([usage, *training], of_group, licenses) or NO_SIGNALS

    def __bool__(self) -> bool:
        return bool(self._by_path or self._of_group or self.licenses)

    def statements(self, url: str) -> tuple[Statement, ...]:
        """Return the statements about *url*, which may be crawled: a forbidden one has no preferences."""
        if not self._by_path:
            return self._of_group
        path = path_of(url)
        return (*(one for rules in self._by_path for one in rules.statements(path)), *self._of_group)


NO_SIGNALS: Final = RobotsSignals()
"""The signals of every file without any."""
