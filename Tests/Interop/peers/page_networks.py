"""The phone page in another network than its child: Chromium, child, rendezvous and coturn in the network namespaces of Tests/Away,
behind routers. At home a cable joins phone and child; when the phone leaves, it is cut.

Scenarios and output as those of page_away.py. Needs root.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import time
from typing import Any


from cradle import browsers, ends, internet, processes
from cradle.child import Child
import meeting_places
import page_away
import page_core
from page_push import Trusting

#: A port that the child's router forwards, and one that it does not.
FORWARDED, HIDDEN = internet.CHILD_PORT, internet.CHILD_PORT + 1
CLONE_NEWNET = 0x40000000


class Certificates(meeting_places.Authority):
    """Those of coturn."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        os.chmod(folder / "server.key", 0o600)

    def path(self, name: str) -> str:
        return super().path({"cert.pem": "server.pem", "key.pem": "server.key"}.get(name, name))


class Networks(page_away.Away):
    def __init__(self, options: Any, steps: list[str]):
        self.seen = steps.append
        self.options = options
        self.silent = None

    def direct(self) -> None:
        """Most homes, met at the rendezvous."""
        self.between("port-restricted", "port-restricted", HIDDEN, is_relayed=False)

    def relayed_between(self) -> None:
        """Two networks that take another port for each peer."""
        self.between("symmetric", "symmetric", HIDDEN, is_relayed=True)

    def tcp_443(self) -> None:
        """The phone's network lets TCP to port 443 out, and nothing else."""
        self.between("port-restricted", "port-restricted", HIDDEN, is_relayed=True, only_tcp=(443,))

    def forwarded(self) -> None:
        """Through a forwarded port, without a meeting place: by its answer the child is elsewhere."""
        self.between("port-restricted", "port-restricted", FORWARDED, is_relayed=False)

    def between(self, child: str, phone: str, port: int, is_relayed: bool, only_tcp: tuple[int, ...] = ()) -> None:
        with internet.Internet() as world:
            world.child.connect(child)
            world.parent.connect(phone)
            # At home, until the phone leaves.
            internet.join(world.child.host, "lan", "10.9.0.1/24", world.parent.host, "wlan", "10.9.0.2/24")
            public = f"{world.child.public}/32"
            internet.run("ip", "-n", world.child.host, "addr", "add", public, "dev", "lo")
            internet.run("ip", "-n", world.parent.host, "route", "add", public, "via", "10.9.0.1")
            folder = pathlib.Path(processes.temporary_directory("coturn"))
            relay = ends.Coturn(world, folder)
            try:
                self.watch(world, Certificates(folder), port, is_relayed, only_tcp)
            finally:
                relay.close()
                processes.end_processes()

    def watch(self, world: internet.Internet, authority: Certificates, port: int, is_relayed: bool, only_tcp: tuple[int, ...]) -> None:
        self.authority = authority
        server = internet.SERVER
        self.place = meeting_places.Rendezvous(
            self.options.rendezvous, authority, host=internet.MEETING, port=443, prefix=("ip", "netns", "exec", world.server))
        meetings = f"[{{rendezvous: '{self.place.url}'}}]" if port == HIDDEN else "[]"
        servers = f"[{{urls: ['stun:{server}']}}, {{urls: ['turn:{server}', 'turns:{server}:443'], secret: {ends.SECRET}}}]"
        self.child = Child(
            self.options.child, f"{page_core.CONFIGURATION}away: {{meetings: {meetings}}}\nice-servers: {servers}\n", host="0.0.0.0",
            port=port, prefix=world.child.prefix(), environment={"SSL_CERT_FILE": authority.path("authority.pem")})
        enter(world.parent.host)
        places = {"authorities": (authority.path("authority.pem"),), "address": world.child.public}
        kind = type("TrustingBoth", (Trusting,), places)
        phone: Trusting = kind(f"https://127.0.0.1:{port}/")
        phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=page_away.WATCH_ERRORS + page_away.SERVERS)
        opened, _ = self.child.open_pairing("--admin")
        phone.enter(phone.options.url + opened["link"][opened["link"].index("#") :])
        phone.tap("[data-screen=words] .main")
        self.wait_live(phone)
        phone.wait("the page in the cache", page_away.KEPT)
        phone.enter(phone.options.url)
        self.wait_live(phone)
        if servers := phone.evaluate("[...asked, ...lent]"):
            raise browsers.BrowserError(f"at home it asks {servers}")
        self.seen("at home")
        internet.run("ip", "-n", world.parent.host, "link", "delete", "wlan")
        internet.run("ip", "-n", world.child.host, "addr", "del", f"{world.child.public}/32", "dev", "lo")
        if only_tcp:
            world.parent.let_through_only(only_tcp)
        phone.enter(phone.options.url)
        self.wait_live(phone)
        phone.picture_changes()
        if self.is_met(phone) != (port == HIDDEN):
            raise browsers.BrowserError("it goes another way")
        # A relay that is found first is left when a direct path works.
        deadline = time.monotonic() + 20
        while (relayed := self.is_relayed(phone)) != is_relayed:
            if time.monotonic() > deadline:
                raise browsers.BrowserError(f"relayed: {relayed}")
            time.sleep(0.5)
        self.seen("elsewhere")
        self.expect_no_errors(phone)
        phone.close()

    @staticmethod
    def is_relayed(phone: Trusting) -> bool:
        return bool(phone.evaluate("!!document.querySelector('.status').innerText.includes('relayed')"))


def enter(namespace: str) -> None:
    """This program, and what it starts from now on."""
    with open(f"/run/netns/{namespace}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


if __name__ == "__main__":
    raise SystemExit(page_away.main(Networks, ("direct", "relayed_between", "tcp_443", "forwarded")))
