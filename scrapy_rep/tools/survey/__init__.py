"""A survey of many robots.txt files: a record per site, their sum, and a report to look at."""
