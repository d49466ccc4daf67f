"""The project's settings; the line that matters is ADDONS."""

BOT_NAME = "example"
SPIDER_MODULES = ["example.spiders"]
NEWSPIDER_MODULE = "example.spiders"
USER_AGENT = "ExampleBot/1.0 (+http://127.0.0.1:8998/about)"
LOG_LEVEL = "INFO"

ADDONS = {"scrapy_rep.Addon": 300}
