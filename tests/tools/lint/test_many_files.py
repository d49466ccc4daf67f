"""Folders, many files in several processes, and files that are replaced in one step."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from scrapy_rep.tools import processes
from scrapy_rep.tools.lint import file_linter
from scrapy_rep.tools.lint.config import Config, files_in
from scrapy_rep.tools.lint.file_linter import FileLinter, LintedFile, lint_files, replace_file


def tree(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"User-agent: *\nDisallow: /a*\n")


def found(folder: Path, **config: tuple[str, ...]) -> list[str]:
    names = files_in(folder, Config(folder=folder, **config))  # type: ignore[arg-type]
    return [Path(name).relative_to(folder).as_posix() for name in names]


def test_in_a_folder_the_files_named_after_robots_are_found_in_order(tmp_path: Path) -> None:
    tree(tmp_path, "b/robots.txt", "a/x/shop.robots.txt", "robots.txt", "a/robots.py", "humans.txt")
    assert found(tmp_path) == ["robots.txt", "a/x/shop.robots.txt", "b/robots.txt"]
    assert found(tmp_path, include=("*.txt",), exclude=("a/*", "robots.txt")) == ["humans.txt"]
    assert found(tmp_path, exclude=("a",)) == ["robots.txt", "b/robots.txt"]


def test_what_is_not_the_projects_own_is_not_searched(tmp_path: Path) -> None:
    tree(tmp_path, ".git/robots.txt", "node_modules/x/robots.txt", "venv/robots.txt", "public/robots.txt")
    assert found(tmp_path) == ["public/robots.txt"]


def test_several_processes_find_what_one_does_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number}.txt" for number in range(40)]
    tree(tmp_path, *names)
    paths = [*(str(tmp_path / name) for name in names), str(tmp_path / "nosuch")]
    linter = FileLinter(Config(select=("optimise",), folder=tmp_path))
    alone = list(lint_files(linter, paths))
    monkeypatch.setattr(file_linter, "_FILES_WORTH_PROCESSES", 1)
    monkeypatch.setattr(processes, "cores", lambda: 2)

    together = list(lint_files(linter, paths))

    assert [name for name, _ in together] == paths
    assert together[:-1] == alone[:-1]
    assert [type(linted) for _, linted in together] == [*[LintedFile] * 40, FileNotFoundError]


def test_a_name_that_no_file_can_have_is_a_problem_of_that_file() -> None:
    ((_, linted),) = lint_files(FileLinter(Config()), ["a\0b"])
    assert isinstance(linted, OSError)
    assert linted.strerror == "embedded null byte"


def test_a_file_is_replaced_with_its_permissions_and_through_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "robots.txt"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)

    replace_file(str(link), b"old", b"new")

    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["real.txt", "robots.txt"]


def test_a_file_that_changed_meanwhile_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"newer")
    with pytest.raises(OSError, match="was changed while it was linted"):
        replace_file(str(path), b"old", b"new")
    assert path.read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["robots.txt"]


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(OSError, match="is read-only, so nothing was written"):
        replace_file(str(path), b"old", b"new")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["robots.txt"])


def test_all_names_of_a_file_lead_to_what_is_written(tmp_path: Path) -> None:
    path, other = tmp_path / "robots.txt", tmp_path / "other"
    path.write_bytes(b"old one")
    other.hardlink_to(path)
    replace_file(str(path), b"old one", b"new")
    assert (other.read_bytes(), other.samefile(path), len(os.listdir(tmp_path))) == (b"new", True, 2)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_a_file_that_root_fixes_stays_that_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"old")
    os.chown(path, 65_534, 65_533)
    replace_file(str(path), b"old", b"new")
    assert (path.read_bytes(), path.stat().st_uid, path.stat().st_gid) == (b"new", 65_534, 65_533)
