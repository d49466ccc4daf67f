"""TLS in front of a server that speaks none, with a certificate that nobody has signed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Thread

from typing_extensions import Self

from .certificate import server_context


class TlsProxy:
    """Passes connections on to *port* of 127.0.0.1; use it as a context manager."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._listen())
        return self

    def __exit__(self, *exc: object) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: object) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)  # type: ignore[arg-type]

    async def _listen(self) -> None:
        context = server_context(["127.0.0.1"])
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            await asyncio.gather(_copy(reader, ours), _copy(theirs, writer))
        finally:
            ours.transport.abort()
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while octets := await reader.read(65_536):
            writer.write(octets)
            await writer.drain()
    writer.transport.abort()
