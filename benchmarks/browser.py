"""Chromium, asked through the pipe of its DevTools protocol, such as for what a page measures about itself."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing_extensions import Self

_CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_TO, _FROM = 3, 4  # the file descriptors that Chromium reads and writes
_FREE: Final = 10  # from here on, descriptors are neither of them


class Browser:
    """A headless Chromium with one page, which has a profile of its own."""

    def __enter__(self) -> Self:
        self._profile = tempfile.TemporaryDirectory()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, _FREE) for pair in (os.pipe(), os.pipe()) for end in pair]

        def connect() -> None:
            os.dup2(ends[0], _TO)
            os.dup2(ends[3], _FROM)

        command = [str(_CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        command.append(f"--user-data-dir={self._profile.name}")
        self._process = subprocess.Popen(  # noqa: S603
            command,
            preexec_fn=connect,  # noqa: PLW1509  # no thread runs
            pass_fds=(_TO, _FROM),
            stderr=subprocess.DEVNULL,
        )
        os.close(ends[0])
        os.close(ends[3])
        self._to, self._from = os.fdopen(ends[1], "wb", 0), os.fdopen(ends[2], "rb")
        self._number, self._session, self._events = 0, "", list[str]()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._to.close()
        self._from.close()
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What Chromium answers to *method*. Raises ``RuntimeError`` for an error."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._events.append(answer.get("method", ""))
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        found: dict[str, Any] = answer["result"]
        return found

    def _next(self) -> dict[str, Any]:
        octets = bytearray()
        while (octet := self._from.read(1)) != b"\0":
            if not octet:
                raise RuntimeError("Chromium has ended")
            octets += octet
        found: dict[str, Any] = json.loads(octets)
        return found

    def open(self, url: str) -> None:
        """Show *url*, and wait until it is loaded and has painted."""
        self._events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self._events:
            self._events.append(self._next().get("method", ""))
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")

    def evaluate(self, script: str) -> Any:
        """What *script* answers; of a promise, what it is resolved to."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return found["result"].get("value")
