"""Two years of robots.txt: how popular sites met the crawlers of AI, from two public repositories.

    pip install scrapy_rep matplotlib
    git clone https://github.com/bharath06/robotstxt weekly
    git clone https://github.com/egonkm/Robots.txt many
    python two_years.py weekly many

The first keeps the robots.txt files of about 800 popular sites, a commit a week; the second the files of 31,758
sites on one day. Files are read out of git, and nothing is checked out. A body that did not change from one week
to the next is read once, so two years take some seconds. Writes two_years.md, whose sentences are
computed, and four pictures.
"""

import subprocess
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scrapy_rep.census import Capture, Row, long, rows
from scrapy_rep.tools.crawlers import COMMON_AI_CRAWLERS

HERE = Path(__file__).parent
GPTBOT = "GPTBot"
ANNOUNCED = date(2023, 8, 7)  # when OpenAI documented GPTBot
ALMANAC = (  # HTTP Archive, Web Almanac 2025, chapter "SEO": share of mobile sites whose file names the crawler
    ("adsbot-google", 9.51), ("ahrefsbot", 9.50), ("mj12bot", 7.28), ("googlebot", 6.66), ("dotbot", 5.02),
    ("nutch", 4.81), ("adsbot-google-mobile", 4.71), ("pinterest", 4.35), ("ahrefssiteaudit", 4.27),
)  # fmt: skip
CHECKED = (date(2023, 7, 2), date(2023, 10, 1), date(2023, 12, 31), date(2024, 6, 30))
RANKS = 10
COLORS = {"all": "#b91c1c", "part": "#b45309", "none": "#0f766e", "other": "#6b7280"}
INK = "#1f2937"
BLOCKED = ("all by name", "all by *", "all by fallback")


Sites = dict[str, str]
"""The blobs of one day, by site."""


class File(NamedTuple):
    """What one body says: whether it is a robots.txt, whom it names, and how it treats each AI crawler."""

    is_file: bool
    mentions: bool  # the letters of GPTBot, anywhere
    named: frozenset[str]
    treatments: dict[str, str]
    ways: dict[str, str | None]

    @property
    def blocked(self) -> set[str]:
        """The AI crawlers that may request nothing."""
        return {agent for agent, treatment in self.treatments.items() if treatment == "all"}

    @property
    def way(self) -> str:
        """How GPTBot is treated, and by which group: ``all by name``, for example."""
        treatment = self.treatments.get(GPTBOT, "none")
        return treatment if treatment == "none" else f"{treatment} by {self.ways[GPTBOT]}"


def git(repository: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    return subprocess.run(
        ["git", "-C", repository, *arguments], input=stdin, capture_output=True, check=True
    ).stdout


def weeks(repository: Path) -> dict[date, Sites]:
    """The files of each week, as blobs by site; the subject of a commit has its date, "date:31/12/2023"."""
    found = {}
    for line in reversed(git(repository, "log", "--format=%H %s").decode().splitlines()):
        commit, _, subject = line.partition(" ")
        if subject.startswith("date:"):
            day, month, year = map(int, subject.removeprefix("date:").split("/"))
            found[date(year, month, day)] = blobs(repository, commit)
    return dict(sorted(found.items()))


def blobs(repository: Path, commit: str = "HEAD", folder: str = "") -> Sites:
    lines = git(repository, "ls-tree", "-z", f"{commit}:{folder}").decode().split("\0")[:-1]
    pairs = (line.split("\t") for line in lines)
    return {name: about.split()[2] for about, name in pairs if " blob " in about and name[0] != "."}


def bodies(repository: Path, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Each blob of *ids* once, with its content."""
    wanted = [*dict.fromkeys(ids)]
    content = git(repository, "cat-file", "--batch", stdin="\n".join(wanted).encode())
    at = 0
    for blob in wanted:
        begin = content.index(b"\n", at) + 1
        _, kind, *rest = content[at:begin].split()
        size = int(rest[0]) if rest else -1  # a partial clone may miss the largest files
        at = begin + size + 1
        if kind == b"blob":
            yield blob, content[begin : begin + size]


def read(repository: Path, ids: Iterable[str]) -> dict[str, File]:
    found = {}
    for blob, body in bodies(repository, ids):
        (row,) = rows([Capture("https://site.example/robots.txt", body=body)], light=True)
        treated = [each for each in long([row], COMMON_AI_CRAWLERS) if each["agent"] in COMMON_AI_CRAWLERS]
        found[blob] = File(
            is_file=Row.of(row).has_file and bool(row["groups"]),
            mentions=GPTBOT.lower().encode() in body.lower(),
            named=frozenset(name.lower() for name in row["agents_allow"] | row["agents_disallow"] if name != "*"),
            treatments={each["agent"]: each["treatment"] for each in treated},
            ways={each["agent"]: each["by"] for each in treated},
        )
    return found


def most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    """As ``Counter.most_common``, and the same in every run."""
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def ranking(files: Iterable[File]) -> list[tuple[str, float]]:
    """The crawlers that most files name, with the share of files in per cent."""
    with_rules = [file for file in files if file.is_file]
    counts = Counter(name for file in with_rules for name in file.named)
    return [(name, 100 * count / len(with_rules)) for name, count in most_first(counts)]


class Week(NamedTuple):
    """What changed up to ``day`` since the week before, among the sites that are in both."""

    day: date
    changed: int
    blocked: Counter[str]  # the sites that newly block everything, by crawler
    unblocked: Counter[str]  # the sites that no longer do
    sites: int  # those that newly block at least one of the crawlers

    @classmethod
    def between(cls, before: dict[str, File], day: date, after: dict[str, File]) -> "Week":
        both = [(before[site], after[site]) for site in before.keys() & after.keys()]
        changed = [(old, new) for old, new in both if old is not new and old.is_file and new.is_file]
        newly = [new.blocked - old.blocked for old, new in changed]
        return cls(
            day,
            len(changed),
            Counter(agent for agents in newly for agent in agents),
            Counter(agent for old, new in changed for agent in old.blocked - new.blocked),
            sum(map(bool, newly)),
        )


class Study(NamedTuple):
    """The files of each week, by site."""

    weeks: dict[date, dict[str, File]]

    @property
    def days(self) -> list[date]:
        return [*self.weeks]

    @property
    def changes(self) -> list[Week]:
        pairs = pairwise(self.weeks.items())
        return [Week.between(before, day, after) for (_, before), (day, after) in pairs]

    @property
    def last_of_year(self) -> dict[int, list[File]]:
        return {day.year: [*files.values()] for day, files in self.weeks.items()}

    def shares(self, *ways: str) -> list[float]:
        """The share of files, in per cent, that treat GPTBot in one of *ways*, week by week."""
        weekly = ([file.way for file in files.values() if file.is_file] for files in self.weeks.values())
        return [100 * sum(way in ways for way in found) / len(found) for found in weekly]


def stacked(axes: Axes, days: list[date], parts: list[tuple[str, str, list[float]]]) -> None:
    axes.stackplot(days, [part for _, _, part in parts], colors=[color for _, color, _ in parts], linewidth=0)
    bottom = 0.0
    for label, color, part in parts:
        axes.annotate(
            f"{label} {part[-1]:.0f} %", (days[-1], bottom + part[-1] / 2), (6, 0), textcoords="offset points",
            color=color, va="center", fontweight="bold",
        )  # fmt: skip
        bottom += part[-1]
    axes.set_ylabel("% of files")
    axes.set_xlim(days[0], days[-1])
    axes.axvline(ANNOUNCED, color=INK, linewidth=0.8, linestyle=":")
    axes.annotate(
        "GPTBot is announced ", (ANNOUNCED, 0.97), xycoords=("data", "axes fraction"), ha="right", va="top"
    )


def draw_names(axes: Axes, study: Study) -> None:
    parts = [
        ("all, by name", COLORS["all"], study.shares("all by name")),
        ("part, by name", COLORS["part"], study.shares("part by name")),
        ("all, by *", COLORS["other"], study.shares("all by *")),
    ]
    stacked(axes, study.days, parts)
    axes.set_ylim(0, 25)


def draw_treatments(axes: Axes, study: Study) -> None:
    all_, none = study.shares(*BLOCKED), study.shares("none")
    part = [100 - one - other for one, other in zip(all_, none, strict=True)]
    stacked(
        axes,
        study.days,
        [(name, COLORS[name], of) for name, of in (("all", all_), ("part", part), ("none", none))],
    )
    axes.set_ylim(0, 100)


def draw_ranks(axes: Axes, study: Study) -> None:
    ranks = {year: [name for name, _ in ranking(files)] for year, files in study.last_of_year.items()}
    years = [*ranks]
    for name in dict.fromkeys(name for each in ranks.values() for name in each[:RANKS]):
        places = [min(each.index(name), RANKS) + 1 if name in each else RANKS + 1 for each in ranks.values()]
        is_ai = name in {agent.lower() for agent in COMMON_AI_CRAWLERS}
        axes.plot(years, places, marker="o", color=COLORS["all" if is_ai else "other"], clip_on=True)
        for year, place, side in ((years[0], places[0], -1), (years[-1], places[-1], 1)):
            if place <= RANKS:
                axes.annotate(
                    f"{place}  {name}" if side > 0 else f"{name}  {place}", (year, place), (8 * side, 0),
                    textcoords="offset points", ha="left" if side > 0 else "right", va="center",
                    color=COLORS["all"] if is_ai else INK,
                )  # fmt: skip
    axes.set_ylim(RANKS + 0.5, 0.5)
    axes.set_xticks(years)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def draw_weeks(axes: Axes, study: Study) -> None:
    found = study.changes
    axes.bar([week.day for week in found], [week.sites for week in found], width=6, color=COLORS["all"])
    most = max(found, key=lambda week: week.sites)
    axes.annotate(
        f"{most.day:%B %d, %Y}: {most.sites}", (most.day, most.sites), (8, -4), textcoords="offset points"
    )
    axes.set_ylabel("sites")
    axes.yaxis.get_major_locator().set_params(integer=True)


PICTURES: dict[str, tuple[Callable[[Axes, Study], None], str]] = {
    "names": (draw_names, "Sites that block GPTBot, by name and by *"),
    "treatments": (draw_treatments, "How much of a site GPTBot may not request"),
    "ranks": (draw_ranks, "Crawlers by the number of files that name them; AI crawlers in red"),
    "weeks": (draw_weeks, "Sites that newly block an AI crawler, by week"),
}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "two years", "axes.spines.top": False, "axes.spines.right": False}


def draw(name: str, study: Study, out: Path) -> None:
    draw_on, title = PICTURES[name]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        draw_on(axes, study)
        axes.set_title(title, loc="left", fontweight="bold", color=INK)
        figure.savefig(out / f"{name}.svg", metadata={"Date": None})


REPORT = Template("""\
# Two years of robots.txt

What did popular sites do when AI crawlers came? This page follows the robots.txt of $sites popular sites over
$weeks weeks, from $first to $last. `two_years.py` computes every sentence, table and picture of it from two public
repositories: [weekly files of popular sites](https://github.com/bharath06/robotstxt) and
[$many files of a single day](https://github.com/egonkm/Robots.txt).

A "file" here is a robots.txt with at least one group. Error pages do not count.

## GPTBot

OpenAI announced GPTBot on August 7, 2023. Files that contain the name:
$mentioned.

![$names_title](two_years/names.svg)

On $last, $by_name of $files files block GPTBot by name, $by_star more block it by `*`, and $part_by_name block
a part of the site by name.

![$treatments_title](two_years/treatments.svg)

On $first, GPTBot could request all of $none_first % of the sites, and nothing of $all_first %. On $last it was
$none_last % and $all_last %.

## The busiest week

![$weeks_title](two_years/weeks.svg)

In the week up to $week, $week_changed sites changed their file, and $week_sites of them newly blocked an AI
crawler: $week_blocked. Unblocked in the same week: $week_unblocked.

## Who is named

![$ranks_title](two_years/ranks.svg)

The share of files that name a crawler, at the end of each year, in the files of a single day, and in the
[Web Almanac 2025](https://almanac.httparchive.org/en/2025/seo):

$ranked

$both of the Almanac's $almanac names are among the first $almanac of the single day. The three lists count
different sites: popular ones, those of one collector with many hosts of one owner, and any site of
the HTTP Archive.

The weekly files were read in full: $captures files, but only $bodies different bodies.
""")


def listed(counts: Counter[str], most: int = 4) -> str:
    return ", ".join(f"{name} {count}" for name, count in most_first(counts)[:most]) or "none"


def mentions(study: Study) -> str:
    counts = {day: sum(file.mentions for file in files.values()) for day, files in study.weeks.items()}
    return ", ".join(f"{counts[day]} on {day}" for day in CHECKED if day in counts)


def ranked(study: Study, many: list[tuple[str, float]]) -> str:
    yearly = {f"popular, {year}": ranking(files) for year, files in study.last_of_year.items()}
    columns = {**yearly, "single day, 2024": many, "Almanac 2025": ALMANAC}
    lines = [f"| rank | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for rank in range(len(ALMANAC)):
        cells = (f"{each[rank][0]} {each[rank][1]:.1f} %" if rank < len(each) else "" for each in columns.values())
        lines.append(f"| {rank + 1} | {' | '.join(cells)} |")
    return "\n".join(lines)


def report(study: Study, bodies: int, many: list[tuple[str, float]], many_files: int) -> str:
    top = max(study.changes, key=lambda week: week.sites)
    now = Counter(file.way for file in study.weeks[study.days[-1]].values() if file.is_file)
    none, all_ = study.shares("none"), study.shares(*BLOCKED)
    both = {name for name, _ in ALMANAC} & {name for name, _ in many[: len(ALMANAC)]}
    return REPORT.substitute(
        {f"{name}_title": title for name, (_, title) in PICTURES.items()},
        sites=len({site for files in study.weeks.values() for site in files}),
        weeks=len(study.days), first=study.days[0], last=study.days[-1],
        captures=f"{sum(map(len, study.weeks.values())):,}", bodies=f"{bodies:,}", many=f"{many_files:,}",
        mentioned=mentions(study), files=now.total(), by_name=now["all by name"],
        by_star=now["all by *"], part_by_name=now["part by name"],
        none_first=f"{none[0]:.0f}", none_last=f"{none[-1]:.0f}",
        all_first=f"{all_[0]:.0f}", all_last=f"{all_[-1]:.0f}",
        week=f"{top.day:%B} {top.day.day}, {top.day.year}", week_changed=top.changed, week_sites=top.sites,
        week_blocked=listed(top.blocked), week_unblocked=listed(top.unblocked),
        ranked=ranked(study, many), both=len(both), almanac=len(ALMANAC),
    )  # fmt: skip


def main(weekly: Path, many: Path, out: Path) -> None:
    by_week, on_one_day = weeks(weekly), blobs(many, folder="robots")
    files = read(weekly, (blob for sites in by_week.values() for blob in sites.values()))
    there = read(many, on_one_day.values())
    study = Study(
        {
            day: {site: files[blob] for site, blob in sites.items() if blob in files}
            for day, sites in by_week.items()
        }
    )
    pictures = out / "two_years"
    pictures.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        draw(name, study, pictures)
    many_files = [there[blob] for blob in on_one_day.values() if blob in there]
    text = report(study, len(files), ranking(many_files), len(many_files))
    (out / "two_years.md").write_text(text, "utf-8")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("weekly", type=Path, help="a clone of bharath06/robotstxt")
    parser.add_argument("many", type=Path, help="a clone of egonkm/Robots.txt")
    parser.add_argument(
        "--out", type=Path, default=HERE, help="folder of the report (default: beside this program)"
    )
    options = parser.parse_args()
    main(options.weekly, options.many, options.out)
