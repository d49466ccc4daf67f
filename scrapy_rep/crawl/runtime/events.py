"""The events of a crawl, in one table.

Rooms are layers, and a lower room calls no higher room. Yet higher rooms have to act on events below. `pacing`
starts a delay when a server has answered for its robots.txt. An account needs every decision. An extra that
shares a site with other processes must be asked before a start. The obvious way, a callback that the upper room
stores in an attribute of the lower room, hides who calls whom. Here each such moment is an `Event`: the lower
room sends it, any higher room subscribes, and neither knows the other.

Events are sent in four ways. Each event below names its way:

* `Event.send` calls all subscribers. An exception from a subscriber ends the call, because a subscriber may have
  to stop the next step: an account that has to be complete stops the request.
* `Event.send_async` does the same, and awaits the subscribers one after another.
* `Event.change` passes a value from subscriber to subscriber. Each returns the value, or a replacement.
* `Event.ask` returns the first answer that is not None. `Event.ask_async` awaits it.

Subscribers are called in the order in which they subscribed. An event without subscribers is false, which lets
hot paths skip work for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    Subscriber = Callable[..., Any]


class Event:
    """A moment of a crawl; the attributes of `Events` say what is sent and what is true then."""

    __slots__ = ("subscribers",)

    def __init__(self) -> None:
        # Replaced, never changed: a subscriber may leave while the event is sent. Hot paths check it first.
        self.subscribers: tuple[Subscriber, ...] = ()

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call *subscriber* whenever the event is sent."""
        self.subscribers = (*self.subscribers, subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Stop calling *subscriber*, if it is subscribed."""
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
    """The events of a crawl, in the order in which a request and its robots.txt meet them.

    The types belong to the rooms that send; an event only passes them on.
    """

    opened: Event = _event()
    """``send()`` by the door when it starts. All components exist; nothing has been requested."""
    ending: Event = _event()
    """``send_async(reason)``: the spider has closed with this *reason*, and the store is still open."""
    closed: Event = _event()
    """``send()``: the crawl has ended, and its store is closed."""

    # A robots.txt, sent by `robots`.
    opening_store: Event = _event()
    """``change(store)``: the store that the settings name, before its first use."""
    answered: Event = _event()
    """``send_async(robots, cause)``: a server answered the fetch for the request *cause*. No waiting request and
    no other process has seen the answer."""
    loaded: Event = _event()
    """``send_async(robots, result, known, cause)``: *robots* replaces *known*. *result* is that of the fetch,
    None for an entry from the store. The file is in memory; requests that wait for it have not resumed."""
    landed: Event = _event()
    """``send(state)``: the fetch of the robots.txt of the origin *state* has ended, with any outcome."""
    closing: Event = _event()
    """``send()``, repeatedly: the crawl is closing while files are being fetched."""

    # A decision, sent by `policy`, `gate` and extras.
    needed: Event = _event()
    """``send_async(robots, request)``: *robots* is about to decide *request*."""
    deciding: Event = _event()
    """``change(decision, request, robots, url)``: rules, modes and exceptions have decided *url*."""
    stamping: Event = _event()
    """``send(stamp, request, robots, decision)``: the stamp is about to be written; subscribers may add fields."""
    decided: Event = _event()
    """``send(request, stamp)``: *request* is about to pass or to be dropped. An exception stops it."""
    final_url: Event = _event()
    """``ask(request, response)``: the browser's final URL, if the URL of *response* does not show it."""
    judged: Event = _event()
    """``send(name, request, stamp, final)``: a URL fetched behind Scrapy's back, for the ``response`` or by the
    ``browser`` (*name*), has been judged; *final* is that URL if it differs from the URL of *request*."""
    lapsed: Event = _event()
    """``send(exception, verdict)``: *exception* covers a URL but does not apply, because another rule decides."""
    expired: Event = _event()
    """``send(exception)``, once per expired exception."""
    dropped: Event = _event()
    """``send(what, url, why)``: a ``link`` or ``item`` (*what*) of *url* is dropped."""
    page_read: Event = _event()
    """``send(request, response, said)``: a page carries directives about itself."""
    reserved: Event = _event()
    """``send(request, response, values, is_reserved)``: the AI signals for a page have been read."""

    # A start, sent by `pacing` and extras.
    met: Event = _event()
    """``send(site_name)``: a request for the site is queued or about to start."""
    delayed: Event = _event()
    """``send()``: an extra needs `met`, and `CrawlDelay` has to watch requests for it."""
    granting: Event = _event()
    """``ask_async(site)``: a request waits for its turn on a shared site. The answer is the grant of its start,
    None if the crawl closes first."""
    started: Event = _event()
    """``send(site, grant)``: a request starts now on a shared site, with the *grant* from ``granting``."""
    delays: Event = _event()
    """``ask(request)``: whether its download slot has a delay. Download handlers must then not repeat it."""
    restarted: Event = _event()
    """``send_async(site)``: the server of *site* sent its robots.txt; the delay counts from now."""
    slowed: Event = _event()
    """``send(site, seconds, delay, pace)``: a shared site asked this crawl to send nothing for *seconds*, then a
    request every *delay* seconds, and later every *pace* seconds."""
    told: Event = _event()
    """``send(site_name, seconds, delay, pace)``: as ``slowed``, but the site asked another process or run."""
    asked: Event = _event()
    """``send(request, plea, backoff)``: the outcome of *request* slows its site down."""

    # An outcome, sent by `runtime`.
    outcome: Event = _event()
    """``send(request, began, outcome)``: a response or exception from the network; see `Downloader.tell`."""
    refused: Event = _event()
    """``send(request, refusal)`` by an extra: the answer shows that the site refused *request*."""
    ended: Event = _event()
    """``send(request)``: *request* has left the downloader, with or without a response."""
    handled: Event = _event()
    """``send(request)``: *request* has been handled, including its callback and its items."""
