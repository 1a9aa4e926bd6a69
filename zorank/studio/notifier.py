"""Pushes the changes of runs to open pages.

A run with open pages has a channel. Whoever changes the run, in any thread, calls `touch`. The
channel then computes the run's events once, whatever the number of its pages, and hands each page
the events that have changed. Events describe the current state, so a page that was disconnected
for a while gets what it missed, and nothing else, by the id of the last event that it received.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field

import anyio
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import BaseModel

from zorank.errors import InvalidInput, StoreError

PAUSE = 0.05
"""The least number of seconds between two updates of a run's events."""

PAUSE_PER_PAGE = 5e-4
"""The same for each open page of all runs: many pages must not hold up answers."""

PING = 15.0
"""Seconds without an event after which a page gets a comment, so that proxies keep it open."""

COMPUTING = 4
"""How many runs compute their events at once; answers use other threads."""

Events = Mapping[str, BaseModel]


@dataclass(frozen=True)
class Event:
    """The current content of one event, as JSON, and the number of its last change.

    Attributes:
        sent: the event as every page receives it.
    """

    number: int
    data: str
    sent: bytes


@dataclass(eq=False)
class _Page:
    """An open page: what wakes its stream, and when something was sent to it last."""

    is_owner: bool
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    sent_at: float = 0.0
    timer: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> float:
        """Seconds without an event."""
        return self.loop.time() - self.sent_at

    def watch(self) -> None:
        """Wake the page whenever it was idle for too long; one timer serves many events."""
        if self.idle >= PING:
            self.woken.set()
        rest = PING - self.idle
        self.timer = self.loop.call_later(rest if rest > 0 else PING, self.watch)

    def end(self) -> None:
        """Wake the page no more."""
        if self.timer is not None:
            self.timer.cancel()


@dataclass(eq=False)
class _Channel:
    """The pages of one run, and its events by role and name.

    Attributes:
        newest: what pages get that have received events up to a number, by role and that number.
            Pages that were sent the same events so far share the bytes.
        touched: whether a call of `_touched` is scheduled.
    """

    pages: set[_Page] = field(default_factory=set)
    events: dict[tuple[bool, str], Event] = field(default_factory=dict)
    newest: dict[tuple[bool, int], tuple[bytes, int]] = field(default_factory=dict)
    updating: asyncio.Task[None] | None = None
    stale: bool = True
    touched: bool = False
    ended: bool = False
    link_changes: int = 0

    def wake(self) -> None:
        for page in self.pages:
            page.woken.set()

    def set(self, is_owner: bool, name: str, event: Event) -> None:
        """Replace an event of a role."""
        self.events[is_owner, name] = event
        self.newest.clear()

    def newer(self, is_owner: bool, number: int) -> tuple[bytes, int]:
        """Return the events of a role that changed after `number`, and the number of the last."""
        found = self.newest.get((is_owner, number))
        if found is None:
            mine = (event for (owner, _), event in self.events.items() if owner == is_owner)
            later = sorted((e for e in mine if e.number > number), key=lambda e: e.number)
            last = later[-1].number if later else number
            found = b"".join(event.sent for event in later), last
            self.newest[is_owner, number] = found
        return found


class Notifier:
    """The channels of all runs.

    Args:
        compute: returns the current events of a run by name, for its owner or for others.
            Raises `InvalidInput` if the run does not exist.
    """

    def __init__(self, compute: Callable[[str, bool], Events]) -> None:
        self._compute = compute
        self._channels: dict[str, _Channel] = {}
        self._numbers = itertools.count(1)
        self._epoch = secrets.token_hex(4)  # ids of another process have no meaning here
        self._limiter: anyio.CapacityLimiter | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    @property
    def followed(self) -> list[str]:
        """The runs with open pages."""
        return list(self._channels)

    def is_followed(self, run: str) -> bool:
        """Whether a run has open pages."""
        return run in self._channels

    @property
    def pages(self) -> int:
        """The number of open pages."""
        return sum(len(channel.pages) for channel in list(self._channels.values()))

    def touch(self, run: str, links: bool = False) -> None:
        """Send what has changed in a run to its pages; callable from any thread.

        Args:
            run: the run's id.
            links: whether a link was revoked: then each page checks its own.
        """
        channel = self._channels.get(run)
        if channel is None or self._loop is None or self._loop.is_closed():
            return
        if channel.touched and not links:
            return  # the update that is to come sees this change, too
        channel.touched = True
        self._loop.call_soon_threadsafe(self._touched, run, links)

    def close(self) -> None:
        """End the streams of all pages; callable from any thread."""
        self._closed = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake_all)

    async def follow(
        self, run: str, is_owner: bool, may_follow: Callable[[], bool], last_id: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield what one page receives: the current events of a run, then those that change.

        Args:
            run: the run's id.
            is_owner: whether the page is its owner's.
            may_follow: called in another thread when links have changed; False ends the stream.
            last_id: the id of the last event that the page received before it reconnected.
        """
        self._loop = asyncio.get_running_loop()
        page = _Page(is_owner, self._loop, sent_at=self._loop.time())
        channel = self._channels.setdefault(run, _Channel())
        channel.pages.add(page)
        links, sent = channel.link_changes, self._number(last_id)
        try:
            await self._ensure_events(run, channel, is_owner)
            page.watch()
            while not (self._closed or channel.ended):
                page.woken.clear()
                if links != channel.link_changes:
                    links = channel.link_changes
                    if not await anyio.to_thread.run_sync(may_follow):
                        return
                newer, sent = channel.newer(is_owner, sent)
                if not newer and page.idle >= PING:
                    newer = KEEPALIVE_COMMENT
                if newer:
                    page.sent_at = self._loop.time()
                    yield newer
                    continue  # newer events may have arrived meanwhile
                await page.woken.wait()
        finally:
            page.end()
            channel.pages.discard(page)
            if not channel.pages and self._channels.get(run) is channel:
                del self._channels[run]

    async def _ensure_events(self, run: str, channel: _Channel, is_owner: bool) -> None:
        """Compute the events of a role that has no page yet."""
        if not any(owner == is_owner for owner, _ in channel.events):
            channel.stale = True
            await self._update(run, channel)

    def _touched(self, run: str, links: bool) -> None:
        channel = self._channels.get(run)
        if channel is None:
            return
        channel.touched, channel.stale = False, True
        if links:
            channel.link_changes += 1
            channel.wake()
        if channel.updating is None:
            channel.updating = asyncio.create_task(self._keep_updated(run, channel))

    async def _keep_updated(self, run: str, channel: _Channel) -> None:
        try:
            while channel.stale and not self._closed:
                await self._update(run, channel)
                await asyncio.sleep(max(PAUSE, PAUSE_PER_PAGE * self.pages))
        finally:
            channel.updating = None

    async def _update(self, run: str, channel: _Channel) -> None:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(COMPUTING)
        channel.stale, changed = False, False
        for is_owner in {page.is_owner for page in channel.pages}:
            try:
                found = await anyio.to_thread.run_sync(
                    self._serialized, run, is_owner, limiter=self._limiter
                )
            except (InvalidInput, StoreError):  # the run was deleted, or cannot be read
                channel.ended = changed = True
                break
            for name, data in found.items():
                known = channel.events.get((is_owner, name))
                if known is None or known.data != data:
                    channel.set(is_owner, name, self._event(name, data))
                    changed = True
        if changed:
            channel.wake()

    def _event(self, name: str, data: str) -> Event:
        number = next(self._numbers)
        sent = format_sse_event(data_str=data, event=name, id=f"{self._epoch}-{number}")
        return Event(number, data, sent)

    def _serialized(self, run: str, is_owner: bool) -> dict[str, str]:
        events = self._compute(run, is_owner)
        return {name: event.model_dump_json() for name, event in events.items()}

    def _number(self, last_id: str | None) -> int:
        """Return the number in an id of this process; 0 for any other."""
        epoch, _, number = (last_id or "").partition("-")
        return int(number) if epoch == self._epoch and number.isdecimal() else 0

    def _wake_all(self) -> None:
        for channel in self._channels.values():
            channel.wake()
