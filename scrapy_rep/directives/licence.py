"""Former names of `scrapy_rep.directives.rsl`."""

from .rsl import MEDIA_TYPE, is_url
from .rsl import urls_in_header as in_header
from .rsl import urls_in_robots_txt as in_robots_txt

__all__ = ["MEDIA_TYPE", "in_header", "in_robots_txt", "is_url"]
