"""What every crawl needs: robots.txt, decisions, delays, the queue of hosts, sitemaps. Private."""
