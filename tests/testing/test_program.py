"""Programs as subjects of the conformance kit: those that answer, die, hang, or write something else."""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_rep.testing import SITUATIONS, Conformance
from scrapy_rep.testing.conformance import Program, ProgramError, main, watched
from tests.support.markdown import PAGES, blocks

LOOP = """
import sys
from pathlib import Path

seen = {{}}
for number, line in enumerate(sys.stdin):
    path, agent, url = line.rstrip("\\n").split("\\t")
    body = seen.setdefault(path, Path(path).read_bytes())
    {}
"""
OURS = """
    from scrapy_rep.protocol import parse, product_token
    verdict = parse(body).verdict(product_token(agent) if "/" in agent else agent, url)
    print("allowed" if verdict.allowed else "disallowed", verdict.line, flush=True)
"""
NODE = """
const { readFileSync } = require("node:fs");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [path, agent, url] = line.split("\\t");
  const body = readFileSync(path, "latin1");
  console.log(body.includes("Disallow: " + new URL(url).pathname + "\\n") ? "disallowed" : "allowed");
});
"""


def written(folder: Path, code: str) -> list[str]:
    (folder / "subject.py").write_text(LOOP.format(code.strip()))
    return [sys.executable, str(folder / "subject.py")]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["conformance", *arguments])
    return main()


def test_a_program_that_is_right_passes_with_a_line_per_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *written(tmp_path, OURS)) == 0
    told = capsys.readouterr().out
    assert " 133 of 133           RFC 9309 2.2.3 Special characters\n" in told
    assert "   9 of  10  differs  RFC 9309 2.2.2 The allow and disallow lines, disputed\n" in told
    assert " 369 of 369           lines that it names, as in version 1.0 of the kit\n" in told
    assert "wrong" not in told


def test_a_program_that_is_wrong_fails_and_each_wrong_answer_is_shown_with_its_robots_txt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *written(tmp_path, 'print("disallowed", 7, flush=True)')) == 1
    told = capsys.readouterr().out
    assert (
        "wrong: RFC 9309 2.3 Access method: The file is read as UTF-8.\n"
        "    disallows https://www.example.com/cafe as ExampleBot by line 7: expected allowed\n"
    ) in told
    assert "       2  b'Disallow: /caf\\xc3\\xa9\\n'\n" in told
    assert "differs: Google File format: A byte order mark at the start is not part of the first key.\n" in told
    assert "lines more\n" in told  # of 500 KiB
    assert " lines that it names, as in" in told


def test_another_line_than_that_of_the_kit_is_told_and_fails_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *written(tmp_path, OURS.replace("verdict.line", "verdict.line and 99"))) == 0
    told = capsys.readouterr().out
    assert "differs: RFC 9309 2.3 Access method: The file is read as UTF-8.\n" in told
    assert (
        "disallows https://www.example.com/caf%C3%A9 as ExampleBot by line 99: expected disallowed by line 2\n"
        in told
    )
    assert "   0 of 369           lines that it names" in told


def test_what_google_adds_to_the_standard_fails_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only = [situation for situation in SITUATIONS if situation.source == "Google"]
    monkeypatch.setattr("scrapy_rep.testing.conformance.SITUATIONS", only)
    assert run(monkeypatch, *written(tmp_path, 'print("allowed", flush=True)')) == 0
    assert "differs  Google File format\n" in capsys.readouterr().out


def test_a_program_that_dies_answers_nothing_more_about_that_robots_txt_and_is_started_again(
    tmp_path: Path,
) -> None:
    code = """
    if b"Disallow: /photos" in body and number:
        sys.exit(3)
    print("allowed", flush=True)
    """
    with closing(Program(written(tmp_path, code))) as program:
        found = Conformance(program, SITUATIONS[:3])
    first, second, third = found.answers.values()
    assert [answer.given for answer in first[:2]] == [True, None]
    assert {str(answer.error) for answer in first[1:]} == {"ends with exit code 3"}
    assert str(first[1]).startswith("ends with exit code 3, for https://www.example.com/")
    assert {answer.given for answer in third} == {True}
    assert len(second) == len(SITUATIONS[1].questions)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("pass", "says nothing for 0.3 s (is its output flushed?)"),
        ("sys.exit(4)", "ends with exit code 4"),
        ('print("yes", flush=True)', "answers 'yes'"),
        ('print("", flush=True)', "answers ''"),
        ('print("allowed, I think", flush=True)', "answers 'allowed, I think'"),
    ],
)
def test_a_program_without_a_verdict_on_three_files_in_a_row_is_given_up(
    tmp_path: Path, code: str, problem: str
) -> None:
    patience = 0.3 if code == "pass" else 30
    with closing(Program(written(tmp_path, code), patience)) as program, pytest.raises(ProgramError) as error:
        Conformance(program, watched(program))
    assert str(error.value) == f"{problem}, on 3 robots.txt files in a row"
    assert program.failures == 3


def test_a_program_that_dies_now_and_then_is_asked_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
    if len(seen) == 2:
        sys.exit(3)
    print("allowed", flush=True)
    """
    monkeypatch.setattr("scrapy_rep.testing.conformance.SITUATIONS", SITUATIONS[:12])
    with closing(Program(written(tmp_path, code))) as program:
        found = Conformance(program, watched(program))
    answered = [given[0].given is not None for given in found.answers.values()]
    assert answered == [True, False] * 6


def test_an_answer_that_nobody_asked_for_is_taken_for_no_other_question(tmp_path: Path) -> None:
    code = 'sys.stdout.write("allowed\\n" * 2); sys.stdout.flush()'
    with closing(Program(written(tmp_path, code))) as program:
        found = Conformance(program, SITUATIONS[:9])
    assert sum(answer.given is not None for given in found.answers.values() for answer in given) <= 9 * 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [((), "name the program"), (("no-such-program",), "no-such-program: "), (("false",), "ends with exit code 1")],
)
def test_what_cannot_be_asked_is_an_error_with_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, *arguments)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


def test_the_program_in_python_of_the_page_answers(tmp_path: Path) -> None:
    (code,) = (block for block in blocks(PAGES["docs/conformance.md"], "python") if "my_parser.py" in block)
    (tmp_path / "my_parser.py").write_text(code)
    with closing(Program([sys.executable, str(tmp_path / "my_parser.py")])) as program:
        found = Conformance(program, watched(program))
    sections = found.sections()
    assert sections["RFC 9309", "2.1 Protocol definition"] == (27, 27)
    assert sections["RFC 9309", "2.2.4 Other records"] == (26, 31)  # as the page shows


@pytest.mark.full
def test_a_program_in_javascript_is_asked_as_one_in_python(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    (tmp_path / "subject.js").write_text(NODE)
    with closing(Program([node, str(tmp_path / "subject.js")])) as program:
        found = Conformance(program, watched(program))
    answers = [answer for given in found.answers.values() for answer in given]
    assert all(answer.error is None for answer in answers)
    assert {answer.given for answer in answers} == {True, False}
    assert sum(answer.is_right for answer in answers) > len(answers) / 2
