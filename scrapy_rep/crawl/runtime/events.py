"""What happens in a crawl: one table of events, and who may hear of them.

Rooms are layers, and a lower one calls no higher one. Yet rooms above have to act on what happens below. `pacing`
starts a delay when a server has answered for its robots.txt. Whoever keeps an account wants every decision.
Whoever shares a site with other processes has to be asked before a start. The obvious way, a callback that the
upper room puts into an attribute of the lower one, hides who calls whom. Here each such moment is an `Event`: the
room below sends it, any room above subscribes, and neither knows the other.

An event is sent in one of these ways, and each event below says which:

* `Event.send` tells all subscribers. What one raises ends the call, because a subscriber may have to stop what is
  about to happen: an account that has to be complete stops the request.
* `Event.send_async` does the same, and waits for each in turn.
* `Event.change` hands a value from one subscriber to the next. Each returns it, or another one.
* `Event.ask` returns the first answer that is not None. `Event.ask_async` waits for it.

Subscribers are called in the order in which they subscribed. An event without subscribers is false, so a hot path
can skip what only they need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    Subscriber = Callable[..., Any]


class Event:
    """One moment of a crawl; see the attributes of `Events` for what is sent and what is true then."""

    __slots__ = ("subscribers",)

    def __init__(self) -> None:
        # Replaced whole, because a subscriber may leave while the event is sent. Hot paths look at it first.
        self.subscribers: tuple[Subscriber, ...] = ()

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call *subscriber* whenever this happens."""
        self.subscribers = (*self.subscribers, subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Call *subscriber* no more, if it is here."""
        self.subscribers = tuple(each for each in self.subscribers if each != subscriber)

    def send(self, *what: Any) -> None:
        for subscriber in self.subscribers:
            subscriber(*what)

    async def send_async(self, *what: Any) -> None:
        for subscriber in self.subscribers:
            await subscriber(*what)

    def change(self, value: Any, *what: Any) -> Any:
        for subscriber in self.subscribers:
            value = subscriber(value, *what)
        return value

    def ask(self, *what: Any) -> Any:
        for subscriber in self.subscribers:
            answer = subscriber(*what)
            if answer is not None:
                return answer
        return None

    async def ask_async(self, *what: Any) -> Any:
        for subscriber in self.subscribers:
            answer = await subscriber(*what)
            if answer is not None:
                return answer
        return None

    def __bool__(self) -> bool:
        return bool(self.subscribers)


_event: Final = partial(field, default_factory=Event)


@dataclass(eq=False, slots=True)
class Events:
    """The events of one crawl, in the order in which a request and its robots.txt meet them.

    Types are those of the rooms that send; an event passes them on and looks into none.
    """

    opened: Event = _event()
    """``send()`` by the door when it begins to work. All components exist; nothing has been requested."""
    ending: Event = _event()
    """``send_async(reason)``: the spider has closed for this *reason*, and the store is still open."""
    closed: Event = _event()
    """``send()``: the crawl has ended, and its store is closed."""

    # A robots.txt, sent by `robots`.
    opening_store: Event = _event()
    """``change(store)``: the store that the settings name, before anything is read from it."""
    answered: Event = _event()
    """``send_async(robots, cause)``: a server answered the fetch for the request *cause*. Neither a waiting
    request nor another process knows of it yet."""
    loaded: Event = _event()
    """``send_async(robots, result, known, cause)``: *robots* replaces *known*, by a fetch with this *result*
    or from the store (None). It is in memory; the requests that wait for it have not resumed."""
    landed: Event = _event()
    """``send(state)``: nobody fetches the robots.txt of the origin *state* any more, however it ended."""
    closing: Event = _event()
    """``send()``, repeatedly: the crawl has begun to close while files are fetched."""

    # A decision, sent by `policy`, `gate` and extras.
    needed: Event = _event()
    """``send_async(robots, request)``: *request* is about to be decided by *robots*."""
    deciding: Event = _event()
    """``change(decision, request, robots, url)``: what rules, modes and exceptions say about *url*."""
    stamping: Event = _event()
    """``send(stamp, request, robots, decision)``: the stamp is about to be written; it may get more fields."""
    decided: Event = _event()
    """``send(request, stamp)``: *request* is about to pass, or to be dropped. What is raised stops it."""
    final_url: Event = _event()
    """``ask(request, response)``: where a browser ended, if it does not say so by the URL of *response*."""
    judged: Event = _event()
    """``send(name, request, stamp, final)``: what was fetched behind Scrapy's back, for the ``response`` or by
    the ``browser`` (*name*), has been judged; *final* is its URL if that is not the one of *request*."""
    lapsed: Event = _event()
    """``send(exception, verdict)``: *exception* covers a URL and does not apply: another rule decides now."""
    expired: Event = _event()
    """``send(exception)``, once for each exception that has expired."""
    dropped: Event = _event()
    """``send(what, url, why)``: a ``link`` or ``item`` (*what*) of *url* is dropped."""
    page_read: Event = _event()
    """``send(request, response, said)``: a page says something about itself."""
    reserved: Event = _event()
    """``send(request, response, values, is_reserved)``: what was said about the use of a page is read."""

    # A start, sent by `pacing` and extras.
    met: Event = _event()
    """``send(site_name)``: a request for the site is queued, or about to start."""
    delayed: Event = _event()
    """``send()``: somebody wants to hear of `met`, so `CrawlDelay` has to look at requests."""
    granting: Event = _event()
    """``ask_async(site)``: a request waits for its turn on a shared site. The answer is what grants its start,
    None if the crawl closes first."""
    started: Event = _event()
    """``send(site, grant)``: a request starts now on a shared site, by the *grant* that ``granting`` returned."""
    delays: Event = _event()
    """``ask(request)``: whether its download slot has a delay, so that no download handler may repeat it."""
    restarted: Event = _event()
    """``send_async(site)``: the server of *site* sent its robots.txt, so its delay counts from now."""
    slowed: Event = _event()
    """``send(site, seconds, delay, pace)``: a shared site asked this crawl to send nothing for *seconds*, and
    then a request every *delay*, later every *pace* seconds."""
    told: Event = _event()
    """``send(site_name, seconds, delay, pace)``: it asked another process, or an earlier run, to."""
    asked: Event = _event()
    """``send(request, plea, backoff)``: an outcome of *request* slows its site down."""

    # An outcome, sent by `runtime`.
    outcome: Event = _event()
    """``send(request, began, outcome)``: a response or exception from the network; see `Downloader.tell`."""
    refused: Event = _event()
    """``send(request, refusal)`` by an extra: the site refused *request*, as its answer says."""
    ended: Event = _event()
    """``send(request)``: *request* has left the downloader, with or without a response."""
    handled: Event = _event()
    """``send(request)``: all that came of *request* is over, its callback and its items included."""
