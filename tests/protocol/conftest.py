"""Every test here runs with both engines, compiled and plain Python, unless its module says which."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scrapy_rep.protocol import ENGINE, path_pattern, robotstxt


@pytest.fixture(autouse=True, scope="module", params=["c", "python"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The engine that decides in Google's dialects."""
    name: str = request.param
    if name != ENGINE and name == "c":
        pytest.skip("it was not built")
    with pytest.MonkeyPatch.context() as patch:
        if name == "python":
            patch.setattr(robotstxt, "_Compiled", None)
            for module in (path_pattern, robotstxt):
                patch.setattr(module, "find_path", path_pattern._find_path)
        yield name
