"""What pages say about themselves; dropped links, stamped items. Private.

All three parts are spider middlewares, because only there a response and what a callback makes of it are both
at hand. A page passes through two moments:

* before its callback, `page_directives` reads it: header fields and meta elements. Most pages say nothing,
  which one look shows (`reading.is_silent`). What is said is counted, stamped and sent as `Events.page_read`;
* with each request and item of the callback: a link of a page that says nofollow is dropped, and an item of a
  page that says noindex is marked or dropped, if the settings obey. `link_filter` drops links that a known
  robots.txt forbids, `item_stamp` puts the stamp into items.

Reading and obeying are two classes: Scrapy puts a generator around the output of a callback for each middleware
that has a say in it, so one that only reads must not have the methods.

An error page is read and has no effect: it speaks for nothing. Links are looked up when a request needs them,
by the parser that the spider has used already.

The obvious other way is to obey in a link extractor. It sees one page at a time and only the links that it
extracts itself, while callbacks also make requests by hand. The filter of links is no promise either: in doubt
a link passes, because the gate judges it again, and a link that is dropped by mistake is lost.
"""
