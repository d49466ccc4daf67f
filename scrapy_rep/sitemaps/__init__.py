"""The Sitemap lines of robots.txt files, and how sitemap spiders are fed them."""
