"""A real Chromium, for the tests that look at pages as people do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="there is no chromium on PATH")


def dump_dom(url: str, folder: Path, *options: str) -> bytes:
    """The document that Chromium makes of the page at *url*; its profile is in *folder*, where it runs."""
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [
        str(CHROMIUM),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        profile,
        *options,
        "--dump-dom",
        url,
    ]
    return subprocess.run(command, capture_output=True, timeout=60, check=True, cwd=folder).stdout
