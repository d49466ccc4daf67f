"""robots.txt files of origins: what they say, where they come from, where they live. Private."""
