"""The phone page and WHEP behind a reverse proxy that puts them below a path, as Home Assistant's ingress and many a home server do.

Scenarios and output as those of page_screens.py. Needs cryptography (PyPI).
"""

from __future__ import annotations

import asyncio
import pathlib
import ssl
import threading
import urllib.parse

from cradle import browsers, viewing
import meeting_places
import page_screens
from page_edges import WATCH_ERRORS

PREFIX = "/nursery"
#: The whole page is kept, below the path: the shell last.
KEPT = "caches.keys().then(async (all) => (await Promise.all(all.map(async (name) => (await caches.open(name)).match('./')))).some(Boolean))"


class Proxy:
    """TLS of its own; takes PREFIX from the path and passes on. One request a connection; WebSockets as they come."""

    def __init__(self, authority: meeting_places.Authority, child: int):
        self.child = child
        #: Paths that were asked for without the prefix, which another server of the house would have got.
        self.strays: list[str] = []
        self.served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.served.load_cert_chain(authority.path("cert.pem"), authority.path("key.pem"))
        self.asked = ssl.create_default_context()
        self.asked.check_hostname = False
        self.asked.verify_mode = ssl.CERT_NONE
        started = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(started)), daemon=True).start()
        if not started.wait(10):
            raise RuntimeError("the proxy does not run")

    async def serve(self, started: threading.Event) -> None:
        server = await asyncio.start_server(self.handle, "127.0.0.1", 0, ssl=self.served)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await server.serve_forever()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, version = head.split("\r\n", 1)[0].split(" ")
            if not path.startswith(PREFIX + "/"):
                self.strays.append(path)
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                await writer.drain()
                return
            fields = head.split("\r\n", 1)[1]
            if "upgrade: websocket" not in fields.lower():
                kept = [line for line in fields.split("\r\n") if not line.lower().startswith("connection:")]
                fields = "Connection: close\r\n" + "\r\n".join(kept)
            upstream, downstream = await asyncio.open_connection("127.0.0.1", self.child, ssl=self.asked)
            downstream.write(f"{method} {path[len(PREFIX) :]} {version}\r\n{fields}".encode("latin-1"))
            await asyncio.gather(self.carry(reader, downstream), self.carry(upstream, writer))
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            writer.close()

    async def carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()


class Household(page_screens.Household):
    def prefixed(self) -> None:
        """Pairs and watches below the path; then a player with a token, whose session is ended at its own address."""
        proxy = Proxy(meeting_places.Authority(), self.options.port)
        base = self.url = f"https://127.0.0.1:{proxy.port}{PREFIX}/"
        phone = self.phone()
        phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH_ERRORS)
        self.pair(phone)
        phone.wait("the page in the cache", KEPT, 90)
        phone.enter(base)
        phone.wait("live again", "!!document.querySelector('.status .state.live')")
        self.seen("kept")
        if errors := phone.evaluate("errors"):
            raise browsers.BrowserError(f"not caught: {errors}")
        phone.close()
        self.player(base)
        # A browser asks for this one by itself.
        if strays := [path for path in proxy.strays if path != "/favicon.ico"]:
            raise browsers.BrowserError(f"asked for beside the path: {strays}")

    def player(self, base: str) -> None:
        token = self.child.ask("token", "add", "--name", "hall")["token"]
        session = viewing.WhepSession(urllib.parse.urljoin(base, "whep"), token)
        session.post((pathlib.Path(__file__).parents[2] / "Fixtures/offer-aiortc.sdp").read_bytes().decode())
        if not (session.location or "").startswith(f"{base}whep/"):
            raise browsers.BrowserError(f"the session is at {session.location}")
        if session.delete() != 200:
            raise browsers.BrowserError("the session could not be ended")
        self.seen("player")


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Household, ("prefixed",)))
