"""From the Sitemap lines of a robots.txt to requests for pages. Private.

A sitemap passes through four stations:

* named, by a robots.txt or by the spider. `requests.sitemaps_of` turns Sitemap lines into absolute URLs;
* requested. The spider's request for a robots.txt never leaves: the gate answers it from memory
  (`requests.sitemap_lines`), and the file is fetched once for rules and sitemaps. `spider.SitemapFeed` drops a
  sitemap on a host that the spider may not visit, or one that is nested too deep;
* being read. `reading.SitemapReading` turns entries into requests, a thousand at a time. The rest waits as an
  open iterator, and a placeholder request, which never leaves, stands for it in the scheduler. When its turn
  comes, the next thousand follow. A sitemap of fifty thousand pages thus takes the room of one thousand;
* read. `requests.SitemapRuns` notes the time and the validators, but stores no note before the run has
  finished. An interrupted run leaves the notes unchanged, and the next run misses nothing.

A page on another origin than its sitemap needs the consent of its own robots.txt ("Cross Submits" of the
sitemaps protocol). Its request carries the chain of sitemaps that led to it. The gate looks for any of them in
the robots.txt of the page, after the rules have allowed it.

The obvious alternative, which Scrapy's spider uses, is to request robots.txt and sitemaps like pages. It fetches
robots.txt twice, puts every entry into the scheduler as it reads, and asks no other site for consent. Spiders of
Scrapy's class get the benefits without a change: the feed replaces their callback, unless they override it.
"""
