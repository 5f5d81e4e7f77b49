"""The phone page and WHEP behind a reverse proxy that puts them below a path, as many a home server does: nginx, with the lines of
docs/PLAYERS.md.

Scenarios and output as those of page_screens.py. Needs nginx, curl, cryptography (PyPI).
"""

from __future__ import annotations

import pathlib
import re
import socket
import subprocess
import time
import urllib.parse

from cradle import browsers, processes, viewing
import meeting_places
import page_screens
from page_edges import WATCH_ERRORS

ROOT = pathlib.Path(__file__).parents[3]
#: The whole page is kept, below the path: the shell last.
KEPT = "caches.keys().then(async (all) => (await Promise.all(all.map(async (name) => (await caches.open(name)).match('./')))).some(Boolean))"


class Nginx:
    """TLS of its own, at every address of loopback."""

    def __init__(self, child: int):
        location = re.search(r"```nginx\n(.*?)```", (ROOT / "docs/PLAYERS.md").read_text(), re.DOTALL)
        assert location
        authority, folder = meeting_places.Authority(), pathlib.Path(processes.temporary_directory("nginx"))
        self.port = processes.reserved_port()
        self.log = folder / "access.log"
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n"
            f"events {{}}\nhttp {{ access_log {self.log};\n"
            + "".join(f"{kind}_temp_path {folder};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            + f"server {{ listen 0.0.0.0:{self.port} ssl;\n"
            f"ssl_certificate {authority.path('cert.pem')}; ssl_certificate_key {authority.path('key.pem')};\n"
            f"{location[1].replace('8443', str(child))} }} }}\n"
        )
        self.process = processes.start_process(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
        for _ in range(100):
            with socket.socket() as tried:
                if not tried.connect_ex(("127.0.0.1", self.port)):
                    return
            time.sleep(0.1)
        raise RuntimeError((folder / "error.log").read_text())

    def strays(self) -> list[str]:
        """Paths that were asked for beside the page's, which another server of the house would have got."""
        paths = re.findall(r'"[A-Z]+ (\S+) HTTP', self.log.read_text())
        # A browser asks for the icon by itself.
        return [path for path in paths if not path.startswith("/nursery/") and path != "/favicon.ico"]


class Household(page_screens.Household):
    def prefixed(self) -> None:
        """Pairs and watches below the path; then what others ask for there."""
        proxy = Nginx(self.options.port)
        base = self.url = f"https://127.0.0.1:{proxy.port}/nursery/"
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
        if strays := proxy.strays():
            raise browsers.BrowserError(f"asked for beside the path: {strays}")

    def player(self, base: str) -> None:
        """A session is ended at its own address; a still, the sound; who asks is named by the proxy."""
        token = self.child.ask("token", "add", "--name", "hall")["token"]
        session = viewing.WhepSession(urllib.parse.urljoin(base, "whep"), token)
        session.post((ROOT / "Tests/Fixtures/offer-aiortc.sdp").read_text())
        if not (session.location or "").startswith(f"{base}whep/"):
            raise browsers.BrowserError(f"the session is at {session.location}")
        if session.delete() != 200:
            raise browsers.BrowserError("the session could not be ended")
        self.seen("player")
        if not (still := self.get(base, "still.jpg", token)).startswith(b"\xff\xd8"):
            raise browsers.BrowserError(f"no still: {still[:200]!r}")
        # Three seconds of it: what a proxy keeps back until it has enough would not come.
        if len(sound := self.get(base, "sound.ogg", token, "--max-time", "3")) < 4000 or not sound.startswith(b"OggS"):
            raise browsers.BrowserError(f"no sound: {len(sound)} bytes")
        self.get(base, "still.jpg", "wrong" + token, "--interface", "127.0.0.3")
        if (address := self.child.ask("status")["refused"][-1]["address"]) != "127.0.0.3":
            raise browsers.BrowserError(f"refused: {address}")
        self.seen("over HTTP")

    def get(self, base: str, name: str, token: str, *options: str) -> bytes:
        return subprocess.run(["curl", "-sk", "-H", f"Authorization: Bearer {token}", *options, base + name], capture_output=True).stdout


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Household, ("prefixed",)))
