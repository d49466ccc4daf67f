"""`Site` over HTTP/2 and over FTP: the log holds what arrived, octet by octet, decoded as Latin-1."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived
from h2.exceptions import ProtocolError
from typing_extensions import Self

from .site import Answer, Site


class Http2Site(Site):
    """Answers small bodies over TLS, each at once; knows nothing of delays, or of rude answers."""

    async def _serve(self, sockets: Any, context: ssl.SSLContext | None) -> None:
        assert context is not None, "HTTP/2 needs tls=True"
        context.set_alpn_protocols(["h2"])
        await super()._serve(sockets, context)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._transports.add(writer.transport)
        address, port = writer.get_extra_info("sockname")[:2]
        connection = H2Connection(H2Configuration(client_side=False, header_encoding="latin-1"))
        connection.initiate_connection()
        with suppress(OSError, asyncio.CancelledError, ProtocolError):
            while True:
                writer.write(connection.data_to_send())
                await writer.drain()
                octets = await reader.read(65_536)
                if not octets:
                    break
                for event in connection.receive_data(octets):
                    if isinstance(event, RequestReceived):
                        self._reply(connection, event, f"https://{address}:{port}")
        writer.transport.abort()

    def _reply(self, connection: H2Connection, event: RequestReceived, origin: str) -> None:
        assert event.headers is not None
        assert event.stream_id is not None
        headers = {str(name): str(value) for name, value in event.headers}
        answer = self._log(origin, headers[":method"], headers[":path"], headers)
        fields = [(":status", str(answer.status)), ("content-length", str(len(answer.body)))]
        fields += [(name.lower(), value) for name, value in answer.headers]
        connection.send_headers(event.stream_id, fields)
        connection.send_data(event.stream_id, answer.body, end_stream=True)


class FtpSite(Site):
    """An anonymous, passive FTP server; answers with a status but 200 are missing files."""

    def __enter__(self) -> Self:
        super().__enter__()
        self.origins[:] = [origin.replace("http:", "ftp:") for origin in self.origins]
        return self

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._transports.add(writer.transport)
        address, port = writer.get_extra_info("sockname")[:2]
        data: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
        server = await asyncio.start_server(lambda _, writer: data.put_nowait(writer), address, 0)
        high, low = divmod(server.sockets[0].getsockname()[1], 256)
        passive = f"227 Passive ({address.replace('.', ',')},{high},{low})"
        replies = {"USER": "331 Password?", "PASS": "230 Hello", "TYPE": "200 Yes", "PASV": passive}
        with suppress(OSError, asyncio.CancelledError):
            writer.write(b"220 Hello\r\n")
            while line := await reader.readline():
                command, _, path = line.decode("latin-1").removesuffix("\n").removesuffix("\r").partition(" ")
                if command == "RETR":
                    answer = self._log(f"ftp://{address}:{port}", command, path, {})
                    await self._transfer(answer, await data.get(), writer)
                else:
                    writer.write(f"{replies.get(command, '502 No')}\r\n".encode())
        server.close()
        writer.transport.abort()

    async def _transfer(self, answer: Answer, data: asyncio.StreamWriter, writer: asyncio.StreamWriter) -> None:
        if answer.status == 200:
            writer.write(b"150 Here it comes\r\n")
            data.write(answer.body)
            await data.drain()
        data.close()
        writer.write(b"226 That was it\r\n" if answer.status == 200 else b"550 No such file\r\n")
