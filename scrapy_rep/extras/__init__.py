"""Optional features, which only some crawls need. Private.

The crawl publishes its events (`scrapy_rep.crawl.runtime.events.Events`) and names no extra. A setting creates an
extra, which subscribes to the events it needs:

* `fleet` shares robots.txt files and delays between processes;
* `backoff` slows down when a site asks for it, and recovers;
* `edge` signs requests, counts refusals that robots.txt does not announce, and can skip such sites;
* `audit` writes notable decisions to a log;
* `pages` reads page directives, drops links and stamps items;
* `ai` reads AI signals of sites and pages;
* `services` judges the requests of a browser.

Extras start in one of two ways. The add-on lists spider middlewares, for which Scrapy has a place; a project can
move them or switch them off. `scrapy_rep.settings.extras_of` names all other extras, and `Crawl.start_extras`
creates them, so that they also work in a manual installation. An extra that no setting enables is never imported.

The obvious alternative is a check for each feature where it matters: in the gate, the door, the account. Every
request would then pay for all features, and no file could be read alone. Here `scrapy_rep.crawl` is a complete
crawl without extras, and each extra is a folder beside it.

Extras communicate through events: `Events.slowed` tells `fleet` about a back-off, `Events.asked` tells `audit`.
"""
