"""The census on Spark: data frames of rows, and of their long form. Needs the extra ``spark``.

The rows are those of `scrapy_rep.census.rows`. This package has to be installed where the executors run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO, Any, Final, cast

import pyarrow as pa
from pyarrow.fs import FileSystem
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import from_arrow_schema

from scrapy_rep.protocol import GOOGLE, Dialect
from scrapy_rep.tools.crawlers import COMMON_AI_CRAWLERS

from . import LONG, warc
from . import long as long_of
from . import rows as rows_of
from .arrow import LIGHT_ROWS, ROWS, batches, dictionaries, schema_of
from .capture import Capture

__all__ = ["long", "newest", "rows"]

_LONG: Final = schema_of(LONG)
_FOR_LONG: Final = pa.schema(
    [
        ROWS.field(name)
        for name in (
            "site", "fetched_at", "agents_disallow", "crawl_delays", "sitemaps", "named", "restriction",
            "restriction_lines",
        )
    ]
)  # fmt: skip
_BUFFER: Final = 1_048_576  # octets of a file elsewhere that are fetched at once

_Batches = Iterator[pa.RecordBatch]
_Census = Callable[[Iterable[Capture]], Iterator[dict[str, Any]]]


def rows(
    paths: DataFrame,
    *,
    agents: Iterable[str] = (),
    dialect: Dialect = GOOGLE,
    light: bool = False,
) -> DataFrame:
    """Return the rows of the captures in the WARC files at *paths*, a data frame with the column ``path``.

    A path is one on the executor, or a URI of a file system that pyarrow knows, such as ``s3://…``. The files of
    a partition are read one after another, each by itself: a revisit of a capture in another file has no body. A
    file that cannot be read, or is damaged, fails the job. The other arguments are those of
    `scrapy_rep.census.rows`.
    """
    census = partial(rows_of, agents=(*agents,), dialect=dialect, light=light)
    schema = LIGHT_ROWS if light else ROWS
    return _mapped(paths.select("path"), partial(_measured, census, schema), schema)


def long(rows: DataFrame, agents: Iterable[str] = COMMON_AI_CRAWLERS) -> DataFrame:
    """Return the long form of *rows* for *agents*, with the columns of `scrapy_rep.census.LONG`."""
    return _mapped(rows.select(*_FOR_LONG.names), partial(_lengthened, (*agents,)), _LONG)


def newest(rows: DataFrame) -> DataFrame:
    """Return the newest of the *rows* of each site, by ``fetched_at``, and at one time as `precedence` says."""
    no_text = sql.lit("")
    same_time = sql.concat_ws(
        " ",
        sql.coalesce("sha256", no_text),
        sql.coalesce("status", sql.lit(0)).cast("string"),
        sql.coalesce("problem", no_text),
        sql.coalesce("location", no_text),
    )
    first = Window.partitionBy("site").orderBy(sql.desc_nulls_last("fetched_at"), same_time.desc())
    numbered = rows.withColumn("_number", sql.row_number().over(first))
    return numbered.where("_number = 1").drop("_number")


def _mapped(df: DataFrame, function: Callable[[_Batches], _Batches], schema: pa.Schema) -> DataFrame:
    return df.mapInArrow(function, from_arrow_schema(schema))


# In the executors


def _measured(census: _Census, schema: pa.Schema, found: _Batches) -> _Batches:
    return batches(census(_archived(found)), schema)


def _archived(found: _Batches) -> Iterator[Capture]:
    for path in chain.from_iterable(batch.column("path").to_pylist() for batch in found):
        yield from _elsewhere(path) if "://" in path else warc.captures(path)


def _elsewhere(uri: str) -> Iterator[Capture]:
    system, name = FileSystem.from_uri(uri)
    with system.open_input_stream(name, compression=None, buffer_size=_BUFFER) as file:
        try:
            yield from warc.captures(cast("IO[bytes]", file))
        except ValueError as error:
            raise ValueError(f"{uri}: {error}") from None


def _lengthened(agents: tuple[str, ...], found: _Batches) -> _Batches:
    each = chain.from_iterable(dictionaries(batch, _FOR_LONG) for batch in found)
    return batches(long_of(each, agents), _LONG)
