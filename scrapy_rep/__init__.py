"""The Robots Exclusion Protocol for Scrapy."""

__version__ = "0.1.0"
