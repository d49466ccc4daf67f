"""Files in folders, and the tables that are written."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from scrapy_rep.tools.files import files_in, write_csv


def test_files_are_found_in_order_and_not_in_hidden_folders(tmp_path: Path) -> None:
    names = ["b", "a/z", "a/y", "c/x", "skip/x", ".git/x", ".hidden"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = files_in(tmp_path, is_searched=lambda folder: folder.name != "skip")
    assert [path.relative_to(tmp_path).as_posix() for path in found] == [".hidden", "b", "a/y", "a/z", "c/x"]


def test_a_folder_that_is_not_there_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(files_in(tmp_path / "none"))


def test_no_cell_of_csv_is_a_formula() -> None:
    out = io.StringIO()
    write_csv([["=1+1", "-x", "@x", "\tx", "x-1", -1]], out)
    assert out.getvalue() == "'=1+1,'-x,'@x,'\tx,x-1,-1\r\n"
