"""What some crawls need. Each part subscribes to events of the crawl, which names none of them. Private."""
