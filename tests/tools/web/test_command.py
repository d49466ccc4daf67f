"""``scrapy robots serve`` as a process of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from scrapy_rep.tools.commands import serve
from scrapy_rep.tools.web.server import listening_at
from tests.support.command import command_here, robots_command, scrapy_process

ALONE = """
import sys
sys.modules["scrapy"] = sys.modules["twisted"] = None
from scrapy_rep.tools.commands.serve import main
sys.exit(main(["--port", "0"]))
"""


def test_it_prints_its_address_answers_without_scrapy_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ALONE]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    line = process.stdout.readline().decode()
    found = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)  \(Ctrl-C ends it\)\n", line)
    assert found, line
    with urllib.request.urlopen(f"{found[1]}api/check", b'{"robots": "User-agent: *\\nDisallow: /"}') as response:  # noqa: S310
        assert json.load(response)["verdicts"][0]["line"] == 2
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with listening_at("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        code, out, err = robots_command(tmp_path, "serve", "--port", str(port))
    assert (code, out) == (2, "")
    assert err == f"scrapy robots serve: error: 127.0.0.1, port {port}: Address already in use\n"


def test_without_the_extra_it_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("scrapy_rep.tools.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert command_here(serve) == (2, "")
    assert capsys.readouterr().err.endswith("which the page needs, is not installed: install the extra web\n")


def test_an_open_address_without_public_is_warned_of(tmp_path: Path) -> None:
    process = scrapy_process("robots", "serve", "--port", "0", "--host", "0.0.0.0", folder=tmp_path)
    assert process.stdout
    assert process.stdout.readline().startswith(b"http://0.0.0.0:")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"add --public, or --host 127.0.0.1" in err
