"""A queue of scrapy-redis that hands out what could start at once, so that a slow host holds up no fast one."""

from scrapy_redis.queue import FifoQueue

from scrapy_rep import RepExtension

LOOKS = 20  # requests that are looked at before the engine is told to ask again later


class PoliteQueue(FifoQueue):
    def pop(self, timeout=0):
        extension = self.spider.crawler.get_extension(RepExtension)
        for _ in range(min(len(self), LOOKS)):
            request = super().pop()
            if request is None or extension.can_start(request):
                return request
            self.push(request)  # at the end: another worker, or a later look, takes it
        return None
