"""``scrapy robots serve`` as a process of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from scrapy_rep.tools.web.server import _bound
from tests.support.command import robots_command, scrapy_process


def test_it_prints_its_address_answers_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    process = scrapy_process("robots", "serve", "--port", "0", folder=tmp_path)
    assert process.stdout
    line = process.stdout.readline().decode()
    found = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)  \(Ctrl-C ends it\)\n", line)
    assert found, line
    with urllib.request.urlopen(found[1]) as response:  # noqa: S310  # this machine's
        assert b"robots.txt checker" in response.read()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


ALONE = """
import sys
sys.modules["scrapy"] = sys.modules["twisted"] = None
from scrapy_rep.tools.commands.serve import main
sys.exit(main(["--port", "0"]))
"""


def test_it_runs_without_scrapy_and_twisted(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ALONE]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    url = process.stdout.readline().split()[0].decode()
    with urllib.request.urlopen(f"{url}api/check", b'{"robots": "User-agent: *\\nDisallow: /"}') as response:  # noqa: S310
        assert json.load(response)["verdicts"][0]["line"] == 2
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"", b"")


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with _bound("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = robots_command(tmp_path, "serve", "--port", str(port))
    assert (code, out) == (2, "")
    assert err == f"scrapy robots serve: 127.0.0.1, port {port}: Address already in use\n"


WITHOUT = """
import sys
sys.modules["starlette"] = sys.modules["starlette.applications"] = None
from scrapy.cmdline import execute
execute(["scrapy", "robots", "serve"])
"""


def test_without_the_extra_it_names_what_to_install(tmp_path: Path) -> None:
    process = subprocess.run([sys.executable, "-c", WITHOUT], cwd=tmp_path, capture_output=True, check=False)
    assert process.returncode == 2
    assert process.stderr.endswith(b"which the page needs, is not installed: install the extra web\n")


def test_an_open_address_without_public_is_warned_of(tmp_path: Path) -> None:
    process = scrapy_process("robots", "serve", "--port", "0", "--host", "0.0.0.0", folder=tmp_path)
    assert process.stdout
    assert process.stdout.readline().startswith(b"http://0.0.0.0:")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert b"add --public, or --host 127.0.0.1" in err
