"""How fast a crawl asks: when a request may start at its download slot."""
