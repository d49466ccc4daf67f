"""What setup.cfg cannot say: links that lead to the repository, and the part in C.

The links of the README are relative, so that they work in every checkout and on every host. A package is read
elsewhere: REPOSITORY_URL, which the release workflow sets, makes them absolute, and names the repository.

The part in C is built where there is a compiler, and left out where there is none, or where SCRAPY_REP_PURE_PYTHON
is set: it is faster, and has no answer of its own.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

_PAGES = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md"}


def description(repository: str) -> str:
    """The README, as it is shown where the *repository* is not; empty: as it is."""
    text = Path(__file__).with_name("README.md").read_text("utf-8")
    if not repository:
        return text
    text = re.sub(r"(!\[[^]]*\]\()(?!\w+:)", rf"\1{repository}/raw/HEAD/", text)
    return re.sub(r"((?<!!)\[[^]]*\]\()(?!\w+:)", rf"\1{repository}/blob/HEAD/", text)


def links(repository: str) -> dict[str, str]:
    """The links of the project, by their labels."""
    pages = {label: f"{repository}/blob/HEAD/{path}" for label, path in _PAGES.items()}
    return {"Source": repository, "Issues": f"{repository}/issues", **pages} if repository else {}


def extensions() -> list[Extension]:
    """The part in C, for CPython with its lock: one file for all its versions, by the limited API."""
    is_left_out = os.environ.get("SCRAPY_REP_PURE_PYTHON") or sysconfig.get_config_var("Py_GIL_DISABLED")
    if is_left_out or sys.implementation.name != "cpython":
        return []
    name = "scrapy_rep.protocol._speedups"
    return [Extension(name, [f"{name.replace('.', '/')}.c"], py_limited_api=True, optional=True)]


if __name__ == "__main__":
    in_c = extensions()
    address = os.environ.get("REPOSITORY_URL", "").rstrip("/")
    setup(
        long_description=description(address),
        long_description_content_type="text/markdown",
        project_urls=links(address),
        ext_modules=in_c,
        options={"bdist_wheel": {"py_limited_api": "cp310"}} if in_c else {},
    )
