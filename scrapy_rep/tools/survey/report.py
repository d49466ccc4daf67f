"""The report of a survey as one page: the figures, and the list of sites with a page for each.

The page is self-contained: it loads nothing, and runs no script but the one that its policy names. The templates
hold its words, its looks and its charts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from scrapy_rep.tools.page.charts import page_template
from scrapy_rep.tools.page.explorer import Tag, script, script_hash

from .figures import SIMILAR_FILES, figures
from .records import SiteRecord
from .sites import MOST_SITES, Body, explorer_of, no_body
from .tags import similar_tag
from .totals import SimilarFiles, Totals


def report(
    totals: Totals,
    when: datetime,
    *,
    expected: int,
    records: Iterable[SiteRecord] = (),
    body: Body = no_body,
) -> str:
    """Return the page about *totals*, which says so when they cover fewer than the *expected* sites.

    It lists the sites of *records*, with the robots.txt that *body* returns for each.
    """
    similar = totals.similar_files()
    index, chunks = explorer_of(records, body, _tags(similar))
    return page_template(__package__).render(
        figures(totals, similar, when, expected=expected),
        index=index,
        chunks=chunks,
        not_listed=max(totals.sites - MOST_SITES, 0),
        script=script(),
        script_hash=script_hash(),
    )


def _tags(similar: Iterable[SimilarFiles]) -> Mapping[str, Tag]:
    """The tag of each file of the groups that the report shows, by its SHA-256."""
    shown = list(similar)[:SIMILAR_FILES]
    return {sha: similar_tag(rank, group.sites[0]) for rank, group in enumerate(shown) for sha in group.shas}
