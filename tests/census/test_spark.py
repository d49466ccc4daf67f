"""The census on Spark: real archives, real executors, and the job at a shell."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scrapy_rep.census import Row, long, rows, warc
from scrapy_rep.census.arrow import rows_in
from scrapy_rep.protocol import GOOGLE_EXACT
from tests.census.archives import IDENTICAL, RULES, archive

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="needs the extra spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*(socket|subprocess):ResourceWarning"),
]

JOB = Path(__file__).parents[2] / "example_project" / "census" / "job.py"
HERE = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
QUIET: dict[str, Any] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
}
MANY_NAMES = b"".join(b"User-agent: bot%d\nDisallow: /%d\nCrawl-delay: %d\n" % (n, n, n) for n in range(50))
BODIES = [
    RULES,
    b"",
    b"<!doctype html><title>no</title>",
    b"User-agent: GPTBot\nUser-agent: \xff\xfe\nDisallow: /\nContent-Signal: ai-train=no\nDissallow: /\n",
    b"\0\xed\xa0\x80\n" + RULES,
    MANY_NAMES,
]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files; each site is in two of them, and changes in between."""
    folder = tmp_path_factory.mktemp("archives")
    return [_archive(folder / name, day) for day, name in enumerate(("a.warc.gz", "b.warc.gz", "c.warc"), start=1)]


def _archive(path: Path, day: int) -> Path:
    date: dict[str, Any] = {"WARC_Date": f"2026-05-0{day}T10:20:30.123456Z"}
    with archive(path) as file:
        file.info()
        for number, body in enumerate(BODIES):
            file.add(f"https://site{number + 3 * day}.example/robots.txt", body, **date)
        url = f"https://other{day}.example"
        file.add(f"{url}/robots.txt", status="404 Not Found", **date)
        file.add(f"{url}:81/robots.txt", b"", status="301 Moved", head={"Location": "/elsewhere"}, **date)
        file.add(f"{url}:82/robots.txt", status="503 Service Unavailable", **date)
        file.add(f"{url}:83/robots.txt", WARC_Truncated="disconnect", **date)
        file.add(f"{url}:84/robots.txt", WARC_Payload_Digest="sha1:A", **date)
        revisit: dict[str, Any] = {"WARC_Payload_Digest": "sha1:A", "WARC_Profile": IDENTICAL, "kind": "revisit"}
        file.add(f"{url}:85/robots.txt", b"", **revisit, **date)
    return path


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    """Spark with two executors; all that it started has ended afterwards."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in HERE.items():
            patch.setenv(name, value)
        from pyspark import SparkContext  # noqa: PLC0415  # half a second
        from pyspark.sql import SparkSession  # noqa: PLC0415

        session = SparkSession.builder.master("local[2]").config(map=QUIET).getOrCreate()
        gateway: Any = session.sparkContext._gateway
        yield session
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(30)
        SparkContext._gateway = SparkContext._jvm = None
        del session, gateway
        gc.collect()


@pytest.fixture
def spark(session: SparkSession) -> ModuleType:
    from scrapy_rep.census import spark  # noqa: PLC0415  # needs PySpark

    return spark


def in_partitions(session: SparkSession, paths: Iterable[object]) -> DataFrame:
    paths = [(str(path),) for path in paths]
    return session.createDataFrame(paths, "path string").repartitionByRange(len(paths), "path")


def alone(archives: list[Path], **options: Any) -> list[dict[str, Any]]:
    """The rows that one process makes, in order."""
    made = rows(chain.from_iterable(map(warc.captures, archives)), **options)
    return sorted(made, key=by_site_and_time)


def by_site_and_time(row: dict[str, Any]) -> tuple[str, str]:
    return row["site"], str(row["fetched_at"])


def through_parquet(made: DataFrame, folder: Path) -> list[dict[str, Any]]:
    made.write.parquet(str(folder))
    return sorted(map(Row.as_dict, rows_in(folder)), key=by_site_and_time)


def as_full(row: dict[str, Any]) -> dict[str, Any]:
    return Row(**row).as_dict()


def test_the_rows_of_archives_are_those_of_one_process(
    session: SparkSession, spark: ModuleType, archives: list[Path], tmp_path: Path
) -> None:
    paths = in_partitions(session, archives)
    assert paths.rdd.getNumPartitions() == 3
    found = through_parquet(spark.rows(paths), tmp_path / "out")
    assert len(found) == 36
    assert found == alone(archives)


def test_light_rows_are_those_of_one_process(
    session: SparkSession, spark: ModuleType, archives: list[Path], tmp_path: Path
) -> None:
    found = through_parquet(spark.rows(in_partitions(session, archives), light=True), tmp_path / "out")
    assert found == [as_full(row) for row in alone(archives, light=True)]


def test_agents_and_dialect_are_those_asked_for(
    session: SparkSession, spark: ModuleType, archives: list[Path], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"agents": ("Some-Bot",), "dialect": GOOGLE_EXACT}
    found = through_parquet(spark.rows(in_partitions(session, archives), **options), tmp_path / "out")
    assert found == alone(archives, **options)
    assert "Some-Bot" in found[0]["restriction"]


def test_the_long_form_is_that_of_one_process(
    session: SparkSession, spark: ModuleType, archives: list[Path], tmp_path: Path
) -> None:
    spark.rows(in_partitions(session, archives)).write.parquet(str(tmp_path / "out"))
    found = spark.long(session.read.parquet(str(tmp_path / "out"))).toArrow().to_pylist()
    assert sorted(found, key=str) == sorted(long(alone(archives)), key=str)


def test_the_newest_row_of_each_site_is_kept(
    session: SparkSession, spark: ModuleType, archives: list[Path], tmp_path: Path
) -> None:
    made = spark.rows(in_partitions(session, archives))
    newest = {row["site"]: row for row in alone(archives)}
    assert len(newest) < 36
    assert through_parquet(spark.newest(made), tmp_path / "out") == [*newest.values()]


def test_a_row_with_a_time_is_newer_than_one_without(session: SparkSession, spark: ModuleType) -> None:
    made = session.createDataFrame(
        [
            ("a", None, "1", None), ("a", "2026-05-01", "2", 200), ("a", "2025-05-01", "3", 200),
            ("b", None, "4", None), ("c", None, None, 503), ("c", None, "5", 200), ("c", None, None, None),
        ],
        "site string, fetched_at string, sha256 string, status bigint",
    )  # fmt: skip
    from pyspark.sql import functions as sql  # noqa: PLC0415  # an extra

    made = made.withColumns({name: sql.lit(None).cast("string") for name in ("problem", "location")})
    assert sorted(row.sha256 for row in spark.newest(made).collect()) == ["2", "4", "5"]


def test_a_path_may_be_a_uri(
    session: SparkSession, spark: ModuleType, archives: list[Path], tmp_path: Path
) -> None:
    uris = in_partitions(session, (path.as_uri() for path in archives))
    assert through_parquet(spark.rows(uris), tmp_path / "out") == alone(archives)


@pytest.mark.parametrize("of", [str, Path.as_uri])
def test_a_damaged_archive_fails_the_job_and_is_named(
    session: SparkSession, spark: ModuleType, archives: list[Path], tmp_path: Path, of: Any
) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415  # as above

    path = tmp_path / "cut.warc.gz"
    path.write_bytes(archives[0].read_bytes()[:-100])
    with pytest.raises(PySparkException, match=r"cut\.warc\.gz.*(damaged|cut off)"):
        spark.rows(in_partitions(session, [of(path)])).collect()


def submit(folder: Path, crawl: str, *arguments: str) -> tuple[int, list[str]]:
    """Run the job with the real ``spark-submit``, on two cores; return its exit code, and what it says itself."""
    program = Path(sysconfig.get_path("scripts"), "spark-submit")
    settings = chain.from_iterable(("--conf", f"{name}={value}") for name, value in QUIET.items())
    job = [program, "--master", "local[2]", *settings, JOB, "--crawl", crawl, "--out", folder, *arguments]
    done = subprocess.run([*map(str, job)], env=os.environ | HERE, capture_output=True, timeout=120, check=False)
    said = (done.stdout + done.stderr).decode()
    assert "Traceback" not in said
    assert "\tat " not in said
    return done.returncode, [line for line in said.splitlines() if line.startswith("job.py: ")]


def test_the_job_writes_a_folder_for_each_crawl(archives: list[Path], tmp_path: Path) -> None:
    listed, out = tmp_path / "archives.txt", tmp_path / "out"
    listed.write_text("".join(f"{path.name}\n" for path in archives))
    root = f"--root={archives[0].parent}/"
    assert submit(out, "2026-05", root, "--all", str(listed)) == (0, [])
    shutil.copytree(out / "crawl=2026-05", out / "crawl=2026-06")
    assert submit(out, "2026-06", root, "--light", "--overwrite", str(listed)) == (0, [])
    may, june = (
        sorted(map(Row.as_dict, rows_in(each)), key=by_site_and_time) for each in sorted(out.glob("crawl=*"))
    )
    assert may == alone(archives)
    newest = {row["site"]: as_full(row) for row in alone(archives, light=True)}
    assert june == [newest[site] for site in sorted(newest)]


def test_the_job_replaces_no_crawl_and_says_in_a_line_what_is_missing(tmp_path: Path) -> None:
    listed, kept = tmp_path / "archives.txt", tmp_path / "crawl=2026-05" / "part.parquet"
    listed.write_text("nowhere.warc.gz\n")
    kept.parent.mkdir()
    kept.write_bytes(b"before")
    again = f"job.py: {kept.parent} is there: --overwrite replaces it, --crawl takes another name"
    assert submit(tmp_path, "2026-05", str(listed)) == (2, [again])
    assert kept.read_bytes() == b"before"
    missing = f"job.py: {tmp_path}/nowhere.txt: no such file"
    assert submit(tmp_path, "2026-06", str(listed), f"{tmp_path}/nowhere.txt") == (2, [missing])
