"""What a `pop` of Scrapy's default priority queue costs by the number of hosts in it, and with a sorted index.

    python priority_queue_cost.py [HOSTS…]

needs Scrapy alone: 2.18 or later, or the branch of pull request 6931, whose queue asks a throttler. Each host has
one request in the queue; sixteen requests are being downloaded all the time. Prints the median CPU time of a `pop`
and of a `len()` for Scrapy's `DownloaderAwarePriorityQueue` and for `IndexedQueue`, a proposal: it hands out the
same requests in the same order, which is checked first.
"""

from __future__ import annotations

import random
import sys
from bisect import bisect_left, bisect_right, insort
from collections import deque
from itertools import chain
from statistics import median
from time import perf_counter, thread_time
from types import SimpleNamespace

from scrapy import Request
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.settings import Settings
from scrapy.squeues import FifoMemoryQueue

ACTIVE = 16
POPS = 300
ENOUGH = 4.0  # seconds for one figure


class IndexedQueue(DownloaderAwarePriorityQueue):
    """Looks at the slots in their order from the last one on, and skips those that are active.

    At most CONCURRENT_REQUESTS slots are active, so that it looks at no more than one slot beyond these.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._sorted = sorted(self.pqueues)
        self._count = sum(map(len, self.pqueues.values()))

    def push(self, request):
        before = len(self.pqueues)
        super().push(request)
        self._count += 1
        if len(self.pqueues) > before:
            insort(self._sorted, request.meta["download_slot"])

    def pop(self):
        if not self._sorted:
            return None
        slot = self._last_selected_slot = self._next()
        request = self.pqueues[slot].pop()
        self._count -= 1
        if not self.pqueues[slot]:
            getattr(self, "_remove_slot", self.pqueues.pop)(slot)  # the first one in the branch
            del self._sorted[bisect_left(self._sorted, slot)]
        return request

    def __len__(self):
        return self._count

    def _next(self):
        slots, last, load = self._sorted, self._last_selected_slot, self._load()
        start = 0 if last is None else bisect_right(slots, last)
        best, least = None, None
        for place in chain(range(start, len(slots)), range(start)):
            active = load(slots[place])
            if least is None or active < least:
                best, least = slots[place], active
            if not least:
                break
        return best

    def _load(self):
        if throttler := getattr(self, "_throttler", None):
            return throttler.get_scope_load
        return self._downloader_interface._active_downloads


QUEUES = DownloaderAwarePriorityQueue, IndexedQueue


class Downloader:
    """As much of a downloader as the queue looks at; in the branch, of a throttler."""

    def __init__(self):
        self.slots = {}
        self.running = deque()

    def get_slot_key(self, request):
        return request.meta["download_slot"]

    get_scopes_key = get_slot_key

    def get_scope_load(self, key):
        slot = self.slots.get(key)
        return len(slot.active) / ACTIVE if slot else 0.0

    def start(self, request):
        slot = self.slots.setdefault(self.get_slot_key(request), SimpleNamespace(active=set()))
        slot.active.add(request)
        self.running.append(request)

    def finish(self):
        request = self.running.popleft()
        self.slots[self.get_slot_key(request)].active.remove(request)


def filled(queue_class, hosts, each=1):
    downloader = Downloader()
    engine = SimpleNamespace(downloader=downloader)
    crawler = SimpleNamespace(settings=Settings(), engine=engine, throttler=downloader, spider=None)
    queue = queue_class(crawler, FifoMemoryQueue, "")
    for number in range(hosts * each):
        host = f"host-{number % hosts}.example"
        queue.push(Request(f"http://{host}/{number}", meta={"download_slot": host}))
    return queue, downloader


def order(queue_class, hosts, each, seed):
    """The URLs as they come out while downloads end at random and new requests come in."""
    dice = random.Random(seed)
    queue, downloader = filled(queue_class, hosts, each)
    while request := queue.pop():
        yield request.url, len(queue)
        downloader.start(request)
        while downloader.running and (len(downloader.running) > ACTIVE or dice.random() < 0.4):
            downloader.finish()
        if dice.random() < 0.3:
            host = f"host-{dice.randrange(hosts)}.example"
            queue.push(Request(f"http://{host}/{dice.random()}", meta={"download_slot": host}))


def cost(queue_class, hosts):
    """Median CPU seconds of a pop, and of a len."""
    queue, downloader = filled(queue_class, hosts)
    pops, lengths, until = [], [], perf_counter() + ENOUGH
    while len(pops) < POPS and perf_counter() < until:
        began = thread_time()
        request = queue.pop()
        pops.append(thread_time() - began)
        began = thread_time()
        len(queue)
        lengths.append(thread_time() - began)
        downloader.start(request)
        if len(downloader.running) > min(ACTIVE, hosts // 2):
            queue.push(downloader.running[0])
            downloader.finish()
    return median(pops), median(lengths)


def main():
    for seed in range(50):
        hosts, each = seed % 7 * 5 + 1, seed % 3 + 1
        first, second = (list(order(queue_class, hosts, each, seed)) for queue_class in QUEUES)
        assert first == second, f"another order with seed {seed}"
    print("| hosts | pop, Scrapy's | pop, indexed | len, Scrapy's | len, indexed |\n|---|---|---|---|---|")
    for hosts in map(int, sys.argv[1:] or (10, 100, 1_000, 10_000, 100_000)):
        (pop, length), (our_pop, our_length) = (cost(queue_class, hosts) for queue_class in QUEUES)
        cells = [f"{seconds * 1e6:,.1f} µs" for seconds in (pop, our_pop, length, our_length)]
        print(f"| {hosts:,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
