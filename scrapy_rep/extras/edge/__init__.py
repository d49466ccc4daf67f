"""Permission at the edge: what a site says to a crawler beside robots.txt, by the answers themselves. Private.

robots.txt was the one place where a site said what a crawler may have. Now content delivery networks decide it,
request by request: they answer 402 with a price, a challenge for browsers, or 403, at sites whose robots.txt
allows everything. A crawl that looks at robots.txt alone calls such pages allowed, and goes on asking.

`refusals` hears these answers at the download handler, below Scrapy's HTTP cache. It counts them apart from
robots.txt and, if the crawl is to obey, skips a site that goes on refusing. Nothing is paid, and no challenge
solved: a refusal is an outcome, as a rule is.

The obvious other way is a spider middleware that looks at each response. It would cost each page a call, see what
retries and redirects have made of an answer, and miss what pipelines request.
"""
