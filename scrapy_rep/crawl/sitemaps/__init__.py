"""From the Sitemap lines of a robots.txt to requests for pages. Private.

A sitemap passes through four stations:

* named, by a robots.txt or by the spider. `requests.sitemaps_of` makes absolute URLs of Sitemap lines;
* requested. The request for a robots.txt itself never leaves: the gate answers it from memory
  (`requests.sitemap_lines`), so it is fetched once for rules and sitemaps. `spider.SitemapFeed` drops a sitemap
  on a host that the spider may not visit, and one that is nested too deep;
* being read. `reading.SitemapReading` makes requests of entries, a thousand at a time. The rest waits as an
  open iterator, and one request that never leaves stands for it in the scheduler. When its turn comes, the next
  thousand are made. So a sitemap of fifty thousand pages takes the place of one thousand;
* read. `requests.SitemapRuns` notes when, and with which validators, but stores no note before the run has
  finished. A run that is cut off leaves the notes as they were, so the next one misses nothing.

A page on another origin than its sitemap needs the consent of its own robots.txt ("Cross Submits" of the
sitemaps protocol). Its request carries the chain of sitemaps that led to it. The gate looks for one of them in
the robots.txt of the page, after the rules have allowed it.

The obvious other way is to have a spider request robots.txt and sitemaps like pages, as Scrapy's does. It
fetches robots.txt twice, puts every entry into the scheduler as it reads, and asks no other site for consent.
Spiders of Scrapy's class get the rest of this without a change: the feed replaces their callback, unless they
have one of their own.
"""
