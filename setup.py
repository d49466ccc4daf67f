"""What setup.cfg cannot say: links that lead to the repository, wherever that is.

The links of the README are relative, so that they work in every checkout and on every host. A package is read
elsewhere: REPOSITORY_URL, which the release workflow sets, makes them absolute, and names the repository.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from setuptools import setup

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


if __name__ == "__main__":
    address = os.environ.get("REPOSITORY_URL", "").rstrip("/")
    setup(
        long_description=description(address),
        long_description_content_type="text/markdown",
        project_urls=links(address),
    )
