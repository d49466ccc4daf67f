"""What the commands read."""

from __future__ import annotations

from pathlib import Path

from scrapy_rep.tools.commands.inputs import read_lines


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(b"\xef\xbb\xbfa.example\r\n\r\nb.example\n")
    assert [*read_lines(str(path))] == ["a.example", "b.example"]
