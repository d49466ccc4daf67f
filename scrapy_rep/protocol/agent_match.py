"""Which user-agent lines name a crawler, by dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .dialect import AgentMatch, Dialect
from .path_pattern import octets
from .product_token import Token, is_global
from .records import Record

IsNamedBy = Callable[[bytes], bool]
"""Whether the value of a user-agent line names a crawler."""


def agent_matcher(name: str, dialect: Dialect) -> Callable[[Record], bool]:
    """A filter for the user-agent lines that name the crawler called *name*; ``*`` names nobody."""
    is_named_by = _MATCHERS[dialect.agent_match](name, dialect)
    return lambda agent: is_named_by(agent.value) and not is_global(agent.value)


def named_octets(agent: Record) -> int:
    """The length of the name on the line *agent*."""
    return len(_name_in(agent.value))


def _by_token(name: str, dialect: Dialect) -> IsNamedBy:
    return Token.of(name, wide=dialect.wide_tokens, empty=dialect.empty_token).is_named_by


def _by_value(name: str, dialect: Dialect) -> IsNamedBy:  # noqa: ARG001
    own = octets(name).lower()
    return lambda value: bool(own) and value.lower() == own


def _by_value_in_name(name: str, dialect: Dialect) -> IsNamedBy:  # noqa: ARG001
    own = octets(name).lower()
    return lambda value: bool(_name_in(value)) and _name_in(value).lower() in own


def _by_name_in_value(name: str, dialect: Dialect) -> IsNamedBy:  # noqa: ARG001
    own = octets(name).lower()
    return lambda value: bool(own) and own in value.lower()


def _name_in(value: bytes) -> bytes:
    """The name in the *value* of a user-agent line, without a version."""
    return value.partition(b"/")[0].strip()


_MATCHERS: Final[dict[AgentMatch, Callable[[str, Dialect], IsNamedBy]]] = {
    AgentMatch.EQUAL_TOKEN: _by_token,
    AgentMatch.EQUAL_VALUE: _by_value,
    AgentMatch.VALUE_IN_NAME: _by_value_in_name,
    AgentMatch.NAME_IN_VALUE: _by_name_in_value,
}
