"""A real scrapyd on loopback, and real eggs for it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from typing_extensions import Self

from .redis_server import free_port

_ROOT = Path(__file__).parents[2]
_BOUNDARY = "--boundary-of-a-form"


def egg(package: str, modules: dict[str, str]) -> bytes:
    """The octets of an egg: a *package* of Scrapy's, its settings in the module ``settings``."""
    octets = BytesIO()
    with zipfile.ZipFile(octets, "w") as archive:
        archive.writestr("EGG-INFO/PKG-INFO", f"Metadata-Version: 1.0\nName: {package}\nVersion: 1.0\n")
        archive.writestr("EGG-INFO/entry_points.txt", f"[scrapy]\nsettings = {package}.settings\n")
        for name, text in {"__init__": "", **modules}.items():
            archive.writestr(f"{package}/{name}.py", text)
    return octets.getvalue()


class Scrapyd:
    """A server of its own in *folder*; use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        for module in ("scrapyd", "pkg_resources"):
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"needs scrapyd, and {module} is not installed: pip install 'scrapy_rep[test]'")
        self.folder = folder
        self._port = free_port()
        self._open = build_opener(ProxyHandler({})).open
        (folder / "scrapyd.conf").write_text(f"[scrapyd]\nhttp_port = {self._port}\npoll_interval = 0.1\n")

    def __enter__(self) -> Self:
        path = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "scrapyd"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._until(lambda: self.ask("daemonstatus")["status"] == "ok")
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def ask(self, service: str, data: bytes | None = None, kind: str = "", query: str = "") -> Any:
        """The answer of one of scrapyd's services; with *data*, of content type *kind*, by POST."""
        url = f"http://127.0.0.1:{self._port}/{service}.json?{query}"
        with self._open(Request(url, data, {"Content-Type": kind} if kind else {}), timeout=30) as response:
            return json.load(response)

    def add(self, project: str, octets: bytes) -> Any:
        """Upload an egg, as ``scrapyd-deploy`` does."""
        form = b""
        for head, value in (("project", project.encode()), ("version", b"1"), ('egg"; filename="egg', octets)):
            form += (
                f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{head}"\r\n\r\n'.encode()
                + value
                + b"\r\n"
            )
        return self.ask(
            "addversion", form + f"--{_BOUNDARY}--\r\n".encode(), f"multipart/form-data; boundary={_BOUNDARY}"
        )

    def run(self, project: str, spider: str) -> str:
        """The log of a crawl."""
        data = urlencode({"project": project, "spider": spider}).encode()
        job = self.ask("schedule", data)["jobid"]
        project_alone = urlencode({"project": project})
        self._until(lambda: job in [one["id"] for one in self.ask("listjobs", query=project_alone)["finished"]])
        return (self.folder / "logs" / project / spider / f"{job}.log").read_text()

    def _until(self, condition: Any) -> None:
        patience = monotonic() + 60
        while not _holds(condition):
            assert monotonic() < patience, "scrapyd does not answer"
            sleep(0.1)


def _holds(condition: Any) -> bool:
    try:
        return bool(condition())
    except OSError:
        return False
