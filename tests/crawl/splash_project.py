"""The module that ``docs/howto/splash.md`` puts into a project: the code of that page, and no copy of it."""

from tests.support.markdown import PAGES, blocks

(_CODE,) = (block for block in blocks(PAGES["docs/howto/splash.md"], "python") if "scrapy_splash import" in block)
exec(_CODE)  # noqa: S102
