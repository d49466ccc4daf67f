"""What some crawls need. Private.

The crawl declares what happens in it (`scrapy_rep.crawl.runtime.events.Events`) and names none of these parts.
Each is made when a setting asks for it, and subscribes to the events that it needs:

* `fleet` shares robots.txt files and delays between processes;
* `backoff` slows down for a site that asks for it, and recovers;
* `edge` counts sites that refuse by status what robots.txt allows, and leaves them alone;
* `audit` writes every decision worth an account to a log;
* `pages` reads what a page says about itself, drops links and stamps items;
* `ai` reads what sites and pages say about their use by AI;
* `services` judges what a browser requests.

A part comes to life in one of two ways. What Scrapy has a place for, a spider middleware, is listed by the
add-on, so that a project can move it or switch it off. Everything else is named by
`scrapy_rep.settings.extras_of` and made by `Crawl.start_extras`, so that a manual installation has it too. What
no setting asks for is not even imported.

The obvious other way is a test for each feature where it matters: in the gate, the door, the account. Every
request then pays for all of them, and no file can be read alone. Here `scrapy_rep.crawl` is the whole text of a
crawl without extras, and each extra is a folder beside it.

Extras speak to each other by events, too: `fleet` hears of a back-off by `Events.slowed`, `audit` by
`Events.asked`.
"""
