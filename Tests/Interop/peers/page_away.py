"""The phone page away from home: Chromium that trusts the child's root certificate, a real child, and a meeting place. Away is
another port here: what listened at the child's own then takes connections and says nothing, as a stranger's machine would.

Scenarios and output as those of page_screens.py. Needs certutil (Debian: libnss3-tools), cryptography and websockets (PyPI).
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import time
from typing import Any

from cradle import browsers, processes
from cradle.child import Child
import meeting_places
import page_core
from cradle.identity import Identity, base64url, from_base64url
from page_edges import WATCH_ERRORS
from page_push import Trusting
from cradle.phone import Phone

CHALLENGE = base64url(b"sixteen bytes...")
#: The whole page is kept: the shell last.
KEPT = "caches.keys().then(async (all) => (await Promise.all(all.map(async (name) => (await caches.open(name)).match('/')))).some(Boolean))"
#: Keeps which servers the page asks. Once it is told so, as if nothing direct got through.
SERVERS = """{
  const Connection = RTCPeerConnection;
  const only = localStorage.getItem("test-relay") ? { iceTransportPolicy: "relay" } : {};
  Object.assign(globalThis, { asked: [], lent: [] });
  globalThis.RTCPeerConnection = class extends Connection {
    constructor(configuration) {
      super({ ...configuration, ...only });
      asked.push(...configuration.iceServers);
    }
    setConfiguration(configuration) {
      super.setConfiguration({ ...configuration, ...only });
      lent.push(...configuration.iceServers);
    }
  };
}"""
TROUBLE = "[...document.querySelectorAll('.info .banner:not([hidden])')].map(e => e.textContent).join()"


class Away:
    def __init__(self, options: Any, steps: list[str]):
        self.seen = steps.append
        self.options = options
        self.authority = meeting_places.Authority()
        self.silent: socket.socket | None = None

    def settle(self, place: str = "", more: str = "", relay: str = "allow") -> None:
        """A rendezvous, and a child that is there."""
        self.place = meeting_places.Rendezvous(self.options.rendezvous, self.authority, place)
        self.live_at([self.place.url], more, relay)

    def live_at(self, places: list[str], more: str = "", relay: str = "allow") -> None:
        """A child that is at these places, and at one that is not for browsers."""
        meetings = [*(f"{{rendezvous: '{place}'}}" for place in places), f"{{rendezvous: 'wss://meet.invalid', key-sha256: {'ab' * 32}}}"]
        self.meetings = [*("usable" for _ in places), "pinned"]
        configuration = f"{page_core.CONFIGURATION}away: {{relay: {relay}, meetings: [{', '.join(meetings)}]}}\n{more}"
        self.child = Child(
            self.options.child, configuration, host="[::]", port=processes.reserved_port(),
            environment={"SSL_CERT_FILE": self.authority.path("authority.pem")})
        self.home = self.child.port

    def phone(self, *scripts: str) -> Trusting:
        kind = type("TrustingBoth", (Trusting,), {"authorities": (self.authority.path("authority.pem"),)})
        phone: Trusting = kind(f"https://127.0.0.1:{self.home}/")
        for script in (WATCH_ERRORS, *scripts):
            phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=script)
        return phone

    def join(self, phone: Trusting) -> None:
        """Pairs at home, until the page is kept and knows the meeting place."""
        opened, window = self.child.open_pairing("--admin")
        phone.enter(phone.options.url + opened["link"][opened["link"].index("#") :])
        phone.tap("[data-screen=words] .main")
        self.wait_live(phone)
        processes.end_process(window)
        if self.is_met(phone):
            raise browsers.BrowserError("at home it goes through the meeting place")
        phone.wait("the page in the cache", KEPT)
        phone.tap(".top button:last-child")
        phone.wait("the meeting places", f"document.querySelectorAll('[data-meeting]').length === {len(self.meetings)}")
        if phone.evaluate("[...document.querySelectorAll('[data-meeting]')].map(e => e.dataset.meeting)") != self.meetings:
            raise browsers.BrowserError("the meeting places are others")
        phone.tap("[data-tab=help]")
        self.says(phone, "which is none for browsers", "no certificate that they trust")
        self.seen("learned at home")

    def leave_home(self, phone: Trusting) -> None:
        """The child moves; nobody says anything where it was."""
        phone.open("about:blank")
        self.child.end(signal.SIGTERM)
        self.silent = socket.create_server(("", self.home), family=socket.AF_INET6, dualstack_ipv6=True)
        self.child.port = processes.reserved_port()

    def wait_live(self, phone: Phone) -> None:
        phone.wait("live", "!!document.querySelector('.status .state.live')")
        phone.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")

    def is_met(self, phone: Phone) -> bool:
        return bool(phone.evaluate("!!document.querySelector('.status .met:not([hidden])')"))

    def says(self, phone: Phone, what: str, words: str) -> None:
        phone.wait(what, f"document.body.innerText.includes({json.dumps(words)})")

    def troubled(self, phone: Phone, what: str, words: str) -> None:
        phone.wait(what, f"({TROUBLE}).includes({json.dumps(words)})")

    def expect_no_errors(self, phone: Phone) -> None:
        if errors := phone.evaluate("errors"):
            raise browsers.BrowserError(f"not caught: {errors}")

    def met(self) -> None:
        """Paired at home, watched from elsewhere; the child stops and comes back."""
        self.settle()
        phone = self.phone()
        self.join(phone)
        self.leave_home(phone)
        self.child.start()
        began = time.monotonic()
        phone.enter(phone.options.url)
        opened = time.monotonic() - began
        if opened > 10:
            raise browsers.BrowserError(f"the page took {opened:.1f} s to open")
        self.seen("opened from the cache")
        self.wait_live(phone)
        processes.log(f"opened in {opened:.2f} s, live in {time.monotonic() - began:.2f} s")
        phone.picture_changes()
        phone.wait("where it is", "!!document.querySelector('.status .met:not([hidden])')")
        self.says(phone, "that it is not at home", "not at home: through the remote access server")
        self.seen("picture and sound")
        self.child.end(signal.SIGTERM)
        self.troubled(phone, "that the child is not there", "is not at its remote access server")
        self.seen("not there")
        self.child.start()
        self.wait_live(phone)
        self.seen("there again")
        self.place.stop()
        phone.evaluate("new Promise(done => setTimeout(done, 4000))")
        self.wait_live(phone)
        self.seen("goes on without the place")
        self.expect_no_errors(phone)
        phone.close()

    def withheld(self) -> None:
        """At two places: the faster one lets the child in, and passes nothing of it on to the page; then it denies what the page sends."""
        behind = [meeting_places.Rendezvous(self.options.rendezvous, self.authority) for _ in range(2)]
        bad = meeting_places.Passage(behind[0], self.authority, "in")
        good = meeting_places.Passage(behind[1], self.authority, "all", delay=1)
        # It then names none of its addresses, at which the page would find it on this machine.
        self.live_at([bad.url, good.url], meeting_places.Relay().configuration, relay="only")
        phone = self.phone()
        self.join(phone)
        self.leave_home(phone)
        for place in (bad, good):
            place.is_child_there.clear()
        self.child.start()
        if not all(place.is_child_there.wait(20) for place in (bad, good)):
            raise browsers.BrowserError("the child is not at both places")
        phone.enter(phone.options.url)
        self.wait_live(phone)
        if not (sent := bad.sent):
            raise browsers.BrowserError("the place that passes nothing on was not used")
        self.seen("goes on to the other")
        used = good.sent
        phone.evaluate("dispatchEvent(new Event('online'))")
        deadline = time.monotonic() + 20
        while good.sent == used or phone.evaluate("!document.querySelector('.status .state.live')"):
            if time.monotonic() > deadline:
                raise browsers.BrowserError("no other session")
            time.sleep(0.05)
        if bad.sent != sent:
            raise browsers.BrowserError("the place that passes nothing on was used again")
        self.seen("it goes last")
        bad.mode = "denied"
        behind[1].stop()
        assert self.silent
        self.silent.close()
        phone.enter(phone.options.url)
        self.troubled(phone, "what it says", f"localhost:{bad.port} refuses, in its own words: “{bad.WORDS}”")
        self.troubled(phone, "the other one", f"localhost:{good.port} cannot be reached.")
        self.seen("what each said")
        self.expect_no_errors(phone)
        phone.close()

    def forged(self) -> None:
        """A place where somebody else says that the child is present."""
        self.settle()
        phone = self.phone()
        self.join(phone)
        child = Identity(self.child.folder / "state" / "identity.pem")
        self.leave_home(phone)
        self.place.stop()
        fake = meeting_places.FakePlace(self.place.port, self.authority)
        hour = int(time.time()) + 3600
        presence = {"type": "presence", "from": child.id, "challenge": CHALLENGE, "expires": hour}
        lies = {
            "signed by another key": Identity().signed(presence, kid=child.id),
            "of another child": child.signed(presence | {"from": "0123456789abcdef"}),
            "another's header": child.signed(presence, kid="0123456789abcdef"),
            "too old": child.signed(presence | {"expires": hour - 3600 - 660}),
            "no presence": child.signed(presence | {"type": "host"}),
        }
        for name, lie in lies.items():
            fake.presence = lie
            phone.enter(phone.options.url)
            self.troubled(phone, f"that it is refused: {name}", "This is not the camera you paired with")
            if any(message["cmd"] != "register" for message in fake.received):
                raise browsers.BrowserError(f"it was sent something: {name}")
            self.seen(name)
        # Whoever runs the place does not stop the page by what it would have to read.
        fake.presence = "x" * (3 << 20)
        phone.enter(phone.options.url)
        self.troubled(phone, "that the place is of no use", "Neither the camera nor its remote access server can be reached.")
        self.seen("far too long")
        # The same place with a true one: now the offer comes, with the child's challenge and not the place's.
        fake.presence = child.signed(presence)
        deadline = time.monotonic() + 60
        while not (sent := [message for message in fake.received if message["cmd"] == "send"]):
            if time.monotonic() > deadline:
                raise browsers.BrowserError("no offer for a true presence")
            time.sleep(0.1)
        part = sent[0]["msg"].split(".")[1]
        offer = json.loads(from_base64url(part))
        if offer["challenge"] != CHALLENGE or offer["to"] != child.id:
            raise browsers.BrowserError(f"the offer: {offer}")
        self.seen("true")
        fake.stop()
        self.expect_no_errors(phone)
        phone.close()

    def relayed(self, isLent: bool) -> None:
        relay = meeting_places.Relay()
        ways = (relay.configuration + "lend-after: 0s\n", "") if isLent else ("", relay.configuration)
        # It then names none of its addresses, at which the page would find it on this machine.
        self.settle(*ways, relay="only")
        phone = self.phone(SERVERS)
        self.join(phone)
        # With what it has learned.
        phone.enter(phone.options.url)
        self.wait_live(phone)
        if servers := phone.evaluate("[...asked, ...lent]"):
            raise browsers.BrowserError(f"at home it asks {servers}")
        self.seen("nobody asked at home")
        phone.evaluate("localStorage.setItem('test-relay', '1')")
        self.leave_home(phone)
        self.child.start()
        phone.enter(phone.options.url)
        self.wait_live(phone)
        phone.picture_changes()
        self.says(phone, "that it is relayed", "relayed")
        if bool(phone.evaluate("lent.length")) != isLent or bool(phone.evaluate("asked.length")) == isLent:
            raise browsers.BrowserError(f"asked: {phone.evaluate('[asked, lent]')}")
        self.seen("relayed")
        processes.end_process(relay.process, gently=False)
        phone.enter(phone.options.url)
        self.troubled(phone, "that there is no way", "no way for picture and sound")
        self.seen("no way")
        self.expect_no_errors(phone)
        phone.close()

    def configured(self) -> None:
        """Through the relay that the child has told of at home."""
        self.relayed(isLent=False)

    def lent(self) -> None:
        """Through the relay that the meeting place lends once the child has vouched."""
        self.relayed(isLent=True)


def main(household: type[Away], scenarios: tuple[str, ...]) -> int:
    parser = argparse.ArgumentParser(description="The phone page away from home.")
    parser.add_argument("scenario", choices=scenarios)
    parser.add_argument("--child", required=True, help="the program cradle-child")
    parser.add_argument("--rendezvous", required=True, help="the program cradle-rendezvous")
    options = parser.parse_args()
    steps: list[str] = []
    error = None
    try:
        getattr(household(options, steps), options.scenario)()
    except Exception as problem:  # Whatever it is, the steps until then are told.
        error = f"{type(problem).__name__}: {problem}"
    print(json.dumps({"steps": steps, "error": error}), flush=True)
    processes.end_processes()
    return 0 if error is None else 1


if __name__ == "__main__":
    raise SystemExit(main(Away, ("met", "withheld", "forged", "configured", "lent")))
