"""Which tests run in the loop of the reactor, and which without a collection of garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.support.in_process import is_in_the_loop


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Leave to pytest-twisted what needs the reactor; parametrised hypothesis tests do not survive it."""
    if is_in_the_loop(pyfuncitem.obj):
        return None
    pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    return True


@pytest.fixture
def _no_collection() -> Iterator[None]:
    """For what is measured: a collection costs whoever it meets."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
