pytest_plugins = ["scrapy_rep.testing.plugin"]
