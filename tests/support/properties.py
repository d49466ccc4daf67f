"""How often a property is tried: hypothesis has the profiles, see ``conftest.py``."""

from __future__ import annotations

from hypothesis import settings


def fewer(part: int) -> settings:
    """One in *part* of the examples that the profile asks for, where one takes long: decorator."""
    return settings(max_examples=settings().max_examples // part)
