"""Drives the phone page's modules in a browser against a child of its own, and prints what held as one JSON object.

`{"checks": [{"name", "problem": null|"what is wrong"}], "figures": {…}}` on the last line. What waits, waits for conditions.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import signal
import ssl
import statistics
import subprocess
import sys
import time
import types
import urllib.request
from typing import Any, Callable

from cradle import processes
from cradle.child import Child
from cradle.identity import Identity, base64url
from cradle.chromium import Chromium
from cradle.firefox import Firefox

HERE = pathlib.Path(__file__).parent
#: Seconds for everything; a browser that hangs is ended then.
LIMIT_SECONDS = 400

CONFIGURATION = """
name: Nursery
cameras:
  - {id: cot, device: test, width: 640, height: 360, framerate: 30}
  - {id: door, device: test, width: 320, height: 240, framerate: 30}
microphone: {device: test}
speaker: {device: "null"}
lights: [{id: nightlight, device: simulated}]
"""

# RFC 9383 Appendix C, and Tests/PairingTests.
VECTORS = {
    "spake": {
        "context": "SPAKE2+-P256-SHA256-HKDF-SHA256-HMAC-SHA256 Test Vectors",
        "w0": "bb8e1bbcf3c48f62c08db243652ae55d3e5586053fca77102994f23ad95491b3",
        "w1": "7e945f34d78785b8a3ef44d0df5a1a97d6b3b460409a345ca7830387a74b1dba",
        "x": "d1232c8e8693d02368976c174e2088851b8365d0d79a9eee709c6a05a2fad539",
        "shareP": "04ef3bd051bf78a2234ec0df197f7828060fe9856503579bb1733009042c15c0c1"
        "de127727f418b5966afadfdd95a6e4591d171056b333dab97a79c7193e341727",
        "shareV": "04c0f65da0d11927bdf5d560c69e1d7d939a05b0e88291887d679fcadea75810fb"
        "5cc1ca7494db39e82ff2f50665255d76173e09986ab46742c798a9a68437b048",
        "confirmP": "926cc713504b9b4d76c9162ded04b5493e89109f6d89462cd33adc46fda27527",
        "confirmV": "9747bcc4f8fe9f63defee53ac9b07876d907d55047e6ff2def2e7529089d3e68",
        "shared": "0c5f8ccd1413423a54f6c1fb26ff01534a87f893779c6e68666d772bfd91f3e7",
    },
    "link": {
        "secret": "AAECAwQFBgcICQoLDA0ODw",
        "id": "9fb40141e89749c28107d647b6013a78",
        "w0": "f1aa6b89147c4ff4512be692a23e91a1fd19e7d1bfbb7a6a5235c577034f3cc2",
        "w1": "5c3bf586eeb84c8c06564f69f1b096e0e8885fc0d7d298cc8beb056516ae882d",
    },
}


class Problem(Exception):
    """A check that did not hold."""


def expect(holds: Any, what: str) -> None:
    if not holds:
        raise Problem(what)


class Middle:
    """man_in_the_middle.py between the page and the child."""

    def __init__(self, child: Child):
        self.process = processes.start_process(
            [sys.executable, str(HERE / "man_in_the_middle.py"), "--child", f"wss://127.0.0.1:{child.port}/signal"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
        assert self.process.stdout
        self.origin = f"https://127.0.0.1:{self.process.stdout.readline().split()[-1]}"

    def ask(self, command: str) -> dict[str, Any]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self.process.stdout.readline()))


class Checks:
    def __init__(self, options: argparse.Namespace):
        self.results: list[dict[str, Any]] = []
        self.figures: dict[str, float] = {}
        self.is_chromium = options.browser == "chromium"
        self.child = Child(options.child, CONFIGURATION, port=processes.reserved_port())
        settings = types.SimpleNamespace(url=self.child.origin, insecure=True)
        self.browser = Chromium(settings) if self.is_chromium else Firefox(settings)
        self.load()

    def load(self) -> None:
        """A page of the same origin without a content security policy, with the modules of this child's version."""
        self.browser.open(f"{self.child.origin}/healthz")
        self.browser.evaluate((HERE / "page_core.js").read_text() + "\n;true")
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with urllib.request.urlopen(f"{self.child.origin}/", context=context, timeout=10) as reply:
            found = re.search(r"/page/[0-9a-f]{16}/", reply.read().decode())
        expect(found, "index.html names no folder")
        assert found
        self.own = self.page("load", found[0])

    def page(self, name: str, *parameters: Any) -> Any:
        """What a function of page_core.js gives."""
        arguments = ", ".join(json.dumps(one) for one in (name, *parameters))
        reply = json.loads(self.browser.evaluate(f"pageCore({arguments})"))
        if "problem" in reply:
            raise Problem(reply["problem"])
        return reply["value"]

    def run(self, name: str, body: Callable[[], Any]) -> None:
        problem = None
        try:
            body()
        except Exception as error:  # noqa: BLE001 - every check says for itself what is wrong
            problem = f"{type(error).__name__}: {error}"
        processes.log(f"{name}: {problem or 'good'}")
        self.results.append({"name": name, "problem": problem})

    # Pairing

    def wrong_links(self) -> None:
        expect(self.page("pairByLink", f"#pair={VECTORS['link']['secret']}")["reason"] == "unknown-link", "a link never made")

    def pair_by_code(self) -> None:
        opened, window = self.child.open_pairing("--admin")
        wrong = ("1" if opened["code"][0] == "0" else "0") + opened["code"][1:]
        tried = self.page("pairByCode", wrong)
        expect(tried == {"reason": "wrong-code", "triesLeft": 2}, f"a wrong code: {tried}")
        # The next try has to wait a moment.
        while (paired := self.page("pairByCode", opened["code"])).get("reason") == "too-many-tries":
            time.sleep(0.2)
        self.paired(paired, window)
        again = self.page("pairByCode", opened["code"])
        expect(again["reason"] == "window-closed", f"the window is still open: {again}")

    def pair_by_link(self) -> None:
        opened, window = self.child.open_pairing("--admin")
        self.paired(self.page("pairByLink", opened["link"]), window)
        again = self.page("pairByLink", opened["link"])
        expect(again["reason"] == "unknown-link", f"a used link: {again}")

    def paired(self, here: dict[str, Any], window: subprocess.Popen[str]) -> None:
        expect("words" in here, f"not paired: {here}")
        assert window.stdout
        there = json.loads(window.stdout.readline())["paired"]
        expect(here["words"] == there["words"].split(), f"other words: {here['words']}, {there['words']}")
        expect(there["id"] == self.own["id"] and there["name"] == "Phone", f"another parent: {there}")
        expect(here["name"] == "Nursery" and set(here["permissions"]) == {"view", "listen", "talk", "control", "admin", "recordings"}, f"{here}")

    # Watching

    def reaches_the_first_picture_fast(self) -> None:
        times = []
        for _ in range(11):
            viewer = self.page("watch")
            times.append(self.page("firstPicture", viewer))
            self.page("leave", viewer)
        # The first one starts camera and encoder.
        self.figures["firstPictureMs"] = round(statistics.median(times[1:]), 1)
        self.figures["firstPictureMaximumMs"] = round(max(times), 1)

    def watch(self) -> None:
        self.viewer = self.page("watch")
        self.page("seen", self.viewer)
        expect(self.page("state", self.viewer)["name"] == "Nursery", "the child's name")

    def age(self) -> None:
        self.figures |= self.page("delay", self.viewer)

    def two_watch_at_once(self) -> None:
        other = self.page("watch")
        self.page("seen", other)
        self.page("seen", self.viewer)
        self.page("viewers", self.viewer, 2)
        self.page("leave", other)
        self.page("viewers", self.viewer, 1)

    def token(self) -> None:
        added = self.child.ask("token", "add", "--name", "tablet", "--allow", "view,listen,control")
        viewer = self.page("watch", {"token": added["token"]})
        self.page("seen", viewer)
        self.page("orders", viewer)
        self.child.output("token", "revoke", "tablet")
        expect(self.page("refused", viewer)["reason"] == "token", "another reason")
        self.page("leave", viewer)

    def forged_answers(self) -> None:
        middle = Middle(self.child)
        try:
            for mode, words in (("fingerprint", "signature"), ("resign", "another node")):
                middle.ask(mode)
                # Nothing but what it says is heard.
                viewer = self.page("watch", {"origin": middle.origin, "origins": []})
                text = self.page("forged", viewer)["text"]
                expect(words in text, f"{mode}: {text}")
                self.page("leave", viewer)
            expect(middle.ask("seen")["types"].get("answer", 0) >= 2, "no answer passed")
            # The camera's true address is another one: it is gone on to.
            viewer = self.page("watch", {"origin": middle.origin, "origins": [middle.origin, self.child.origin]})
            self.page("seen", viewer)
            expect(self.page("state", viewer)["movedTo"] == self.child.origin, "it came from elsewhere")
            self.page("leave", viewer)
            middle.ask("relay")
            viewer = self.page("watch", {"origin": middle.origin, "origins": []})
            self.page("seen", viewer)
            self.page("leave", viewer)
        finally:
            processes.end_process(middle.process)

    def liars(self) -> None:
        child = Identity(self.child.folder / "state" / "identity.pem")
        presence = {"type": "presence", "from": child.id, "challenge": base64url(b"sixteen bytes..."), "expires": int(time.time()) + 3600}
        self.page("liars", child.signed(presence), Identity().signed(presence, kid=child.id))

    def no_path(self) -> None:
        middle = Middle(self.child)
        try:
            middle.ask("relay")
            self.page("noPath", middle.origin)
        finally:
            processes.end_process(middle.process)

    # Losing the child

    def planned_stop(self) -> None:
        self.child.end(signal.SIGTERM)
        state = self.page("lost", self.viewer, "child-stopped")
        expect(state["planned"] and state["level"] == "notice", f"{state}")
        expect("goodbye" in self.page("state", self.viewer)["events"], "no goodbye")
        self.child.start()
        self.page("back", self.viewer)

    def kill(self) -> None:
        self.child.end(signal.SIGKILL)
        state = self.page("lost", self.viewer, "link")
        expect(state == {"planned": False, "level": "alarm", "acknowledged": False}, f"{state}")
        self.page("acknowledge", self.viewer)
        expect(self.page("lost", self.viewer, "link")["acknowledged"], "it is not acknowledged")
        self.child.start()
        self.page("back", self.viewer)

    def stalls(self) -> None:
        """Nothing comes, and no connection is refused or closed."""
        self.child.process.send_signal(signal.SIGSTOP)
        try:
            state = self.page("lost", self.viewer, "link")
            expect(state == {"planned": False, "level": "alarm", "acknowledged": False}, f"{state}")
        finally:
            self.child.process.send_signal(signal.SIGCONT)
        self.page("back", self.viewer)

    def leaves(self) -> None:
        """A page that is left says so: without it the child would wait for 30 s (RFC 7675)."""
        self.browser.open(f"{self.child.origin}/healthz")
        deadline = time.monotonic() + 10
        while self.child.ask("status")["viewers"]:
            expect(time.monotonic() < deadline, "the viewer is still there")
            time.sleep(0.1)
        self.load()
        self.watch()

    def frozen(self, name: str, meanwhile: Callable[[], None]) -> None:
        assert isinstance(self.browser, Chromium)
        self.browser.evaluate("clearInterval(globalThis.ticker); globalThis.ticks = 0; ticker = setInterval(() => (ticks += 1), 100)")
        self.browser.remote.command("Page.setWebLifecycleState", state="frozen")
        before = self.browser.evaluate("ticks")
        meanwhile()
        stood = self.browser.evaluate("ticks")
        self.browser.remote.command("Page.setWebLifecycleState", state="active")
        began = self.browser.evaluate("Date.now()")
        sounded = self.page("soundSince", self.viewer, began)
        self.figures[name] = sounded - began
        expect(stood - before < 10, f"the page was not frozen: {stood - before} ticks")
        self.page("back", self.viewer)

    def wakes(self) -> None:
        self.frozen("wakeMs", lambda: time.sleep(6))
        # It was promised within a second; a busy machine may take longer.
        expect(self.figures["wakeMs"] < 3000, f"{self.figures}")

    def wakes_to_a_child_that_was_restarted(self) -> None:
        def restart() -> None:
            self.child.end(signal.SIGKILL)
            self.child.start()

        self.frozen("wakeAfterRestartMs", restart)
        expect(self.figures["wakeAfterRestartMs"] < 5000, f"{self.figures}")

    def unpaired(self) -> None:
        expect(self.child.run("unpair", "--all").returncode == 0, "unpair")
        expect(self.page("refused", self.viewer)["reason"] == "not-paired", "another reason")
        # Whoever was not there learns it on the next try, from a signed answer.
        viewer = self.page("watch")
        expect(self.page("refused", viewer)["reason"] == "not-paired", "another reason later")

    def alarm_table(self) -> None:
        cases = json.loads((HERE.parent.parent / "Fixtures" / "alarm-cases.json").read_text())
        expect(len(cases) >= 25, "too few cases")
        problems = self.page("alarms", cases, (HERE / "page_alarm.js").read_text())["problems"]
        expect(not problems, "; ".join(problems))

    def all(self) -> None:
        self.run("vectors", lambda: self.page("vectors", VECTORS))
        self.run("keys", lambda: self.page("keys"))
        self.run("from elsewhere", lambda: self.page("away"))
        self.run("which room", lambda: self.page("race"))
        self.run("what is called live", lambda: self.page("truths"))
        self.run("the loudest room", lambda: self.page("mixing"))
        self.run("links and codes as typed", lambda: self.page("parsing"))
        self.run("alarm table", self.alarm_table)
        self.run("impostors", lambda: self.page("impostors"))
        self.run("a link never made", self.wrong_links)
        self.run("pairing by code", self.pair_by_code)
        self.run("pairing by link", self.pair_by_link)
        self.run("first picture", self.reaches_the_first_picture_fast)
        self.run("watching", self.watch)
        self.run("picture changes", lambda: self.page("pictureChanges", self.viewer))
        self.run("sound arrives", lambda: self.page("soundArrives", self.viewer))
        self.run("orders", lambda: self.page("orders", self.viewer))
        self.run("waiting for late sound", lambda: self.page("waiting", self.viewer))
        self.run("how old the picture is", self.age)
        self.run("nonsense on the control channel", lambda: self.page("nonsense", self.viewer))
        self.run("two at once", self.two_watch_at_once)
        self.run("audio only", lambda: self.page("audioOnly", self.viewer))
        self.run("token", self.token)
        self.run("forged answers", self.forged_answers)
        self.run("rooms that lie", self.liars)
        self.run("an answer without a path", self.no_path)
        self.run("planned stop", self.planned_stop)
        self.run("child killed", self.kill)
        self.run("child stalls", self.stalls)
        self.run("page is left", self.leaves)
        if self.is_chromium:
            self.run("frozen page", self.wakes)
            self.run("frozen page, child restarted", self.wakes_to_a_child_that_was_restarted)
        self.run("unpaired", self.unpaired)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", required=True, help="the program cradle-child")
    parser.add_argument("--browser", choices=["chromium", "firefox"], default="chromium")
    options = parser.parse_args()
    # Ends what it started, then itself, whatever hangs.
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("still not done"))
    signal.alarm(LIMIT_SECONDS)
    checks = Checks(options)
    checks.all()
    processes.end_processes()
    print(json.dumps({"checks": checks.results, "figures": checks.figures}), flush=True)
    return 1 if any(result["problem"] for result in checks.results) else 0


if __name__ == "__main__":
    sys.exit(main())
