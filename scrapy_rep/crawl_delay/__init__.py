"""The delays that robots.txt files ask for, kept by Scrapy's download slots."""
