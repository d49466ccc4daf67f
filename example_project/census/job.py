"""The robots.txt files in web archives as a table: Parquet, with a folder for each crawl.

    pip install 'scrapy_rep[spark]'
    ls /archives/*.warc.gz > archives.txt
    spark-submit --master 'local[*]' job.py --crawl 2026-05 --out census archives.txt

Each WARC file is a task, so there should be several for each core; bodies stay in the process that reads them. On
a cluster, all executors need the package, and paths that they can read. --overwrite replaces a crawl that is
there.

For Common Crawl: --crawl CC-MAIN-2026-12 --root s3://commoncrawl/ --out s3a://mine/census robotstxt.paths.gz
"""

from argparse import ArgumentParser

from pyspark.sql import SparkSession
from pyspark.sql.functions import concat, lit

from scrapy_rep.census.spark import newest, rows

parser = ArgumentParser()
parser.add_argument("lists", nargs="+", help="files with the paths of WARC files, one per line")
parser.add_argument("--root", default="", help="what the paths start with, such as s3://commoncrawl/")
parser.add_argument("--crawl", required=True, help="name of the crawl")
parser.add_argument("--out", required=True, help="folder of the table")
parser.add_argument("--light", action="store_true", help="without the linter: several times as fast")
parser.add_argument("--all", action="store_true", help="every capture, not only the newest of each site")
parser.add_argument("--overwrite", action="store_true", help="replace the crawl if it is there")


def is_there(spark: SparkSession, name: str) -> bool:
    """Whether there is a file or a folder called *name*, a path or a pattern, where Spark looks for it."""
    path = spark._jvm.org.apache.hadoop.fs.Path(name)
    return bool(path.getFileSystem(spark._jsc.hadoopConfiguration()).globStatus(path))


if __name__ == "__main__":
    options = parser.parse_args()
    spark = SparkSession.builder.appName(f"robots.txt of {options.crawl}").getOrCreate()
    out = f"{options.out}/crawl={options.crawl}"
    if missing := [name for name in options.lists if not is_there(spark, name)]:
        parser.exit(2, f"job.py: {missing[0]}: no such file\n")
    if is_there(spark, out) and not options.overwrite:
        parser.exit(2, f"job.py: {out} is there: --overwrite replaces it, --crawl takes another name\n")
    paths = spark.read.text(options.lists).select(concat(lit(options.root), "value").alias("path"))
    each = paths.repartitionByRange(max(1, paths.count()), "path")  # a task for each file
    table = rows(each, light=options.light)
    table = table if options.all else newest(table)
    table.write.mode("overwrite" if options.overwrite else "errorifexists").parquet(out)
    spark.stop()
