"""The robots.txt of each origin: who asks for one, how it is fetched, what it says, where it is stored. Private.

Knows the settings, the policy and Scrapy's engine. Must not know delays, nor what becomes of a request: the rooms
above add themselves as listeners of the registry.
"""
