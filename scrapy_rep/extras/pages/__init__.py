"""Read page directives, drop links, and stamp items. Private.

All three parts are spider middlewares, because only these see both a response and the output of its callback. A
page passes through two moments:

* before its callback, `page_directives` reads header fields and meta elements. A quick check shows that most pages
  have none (`reading.is_silent`). Directives are counted, stamped and sent as `Events.page_read`;
* with each request and item of the callback: if the settings obey, links of a nofollow page are dropped, and items
  of a noindex page are marked or dropped. `link_filter` drops links that a known robots.txt disallows,
  `item_stamp` puts the stamp into items.

Reading and obeying are two classes: Scrapy wraps the output of a callback in a generator for each middleware that
defines the methods. A middleware that only reads must not define them.

An error page is read without effect: it stands for no content. Links are extracted when a request needs them, by
the parser that the spider has already used.

The obvious alternative is to obey in a link extractor. It sees only the links that it extracts, while callbacks
also create requests by hand. The link filter is no guarantee either: in doubt a link passes, because the gate
judges it again, and a link dropped by mistake is lost.
"""
