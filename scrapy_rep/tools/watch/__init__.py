"""Watching sites: the robots.txt that each had when it was last read, and what a new one changes in meaning."""
