"""Pushed alarms, from the switch in the settings to the notification: Chromium that trusts the child's root certificate, a
real child, and a push service of the test's own, at which the browser is made to subscribe (Chromium's would be Google's).

Scenarios and output as those of page_screens.py. Needs certutil (Debian: libnss3-tools) and cryptography (PyPI).
"""

from __future__ import annotations

import json
import os
import pathlib
import socket
import ssl
import subprocess
import time
import urllib.parse
import urllib.request
from typing import Any

from cradle import browsers
import page_screens
from page_edges import NO_WORKER, Edges
from cradle.phone import PATIENCE, Phone
from push_service import PushService, encoded

#: A subscription at another push service, which lasts as a real one does.
SUBSCRIPTION = """{
  const box = "test-subscription";
  const made = (kept) => kept && { ...kept, toJSON: () => kept, unsubscribe: async () => { localStorage.removeItem(box); return true; } };
  PushManager.prototype.getSubscription = async () => made(JSON.parse(localStorage.getItem(box)));
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (await Notification.requestPermission() !== "granted") throw new DOMException("denied", "NotAllowedError");
    globalThis.subscribedWith = btoa(String.fromCharCode(...applicationServerKey));
    const number = Number(localStorage.getItem("test-number") ?? 0) + 1;
    localStorage.setItem("test-number", number);
    localStorage.setItem(box, JSON.stringify({ endpoint: `ORIGIN/push/${number}`, keys: { p256dh: "POINT", auth: "SECRET" } }));
    if (!userVisibleOnly) throw new DOMException("silent", "NotAllowedError");
    return made(JSON.parse(localStorage.getItem(box)));
  };
}"""

NO_PUSH = "delete globalThis.PushManager;"
#: A push service that does not answer until the test says so, and a time limit of 2 s.
SILENT = """{
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (action, time, ...rest) => wait(action, time === 20000 ? 2000 : time, ...rest);
  const { subscribe } = PushManager.prototype;
  PushManager.prototype.subscribe = function (...options) {
    if (globalThis.isAnswering) return subscribe.apply(this, options);
    return new Promise((done, fail) => { globalThis.answerLate = () => subscribe.apply(this, options).then(done, fail); });
  };
}"""
SWITCH = "document.querySelector('[data-setting=push]')"
NOTIFICATIONS = (
    "navigator.serviceWorker.ready.then(r => r.getNotifications())"
    ".then(all => all.map(({ title, body, tag, data, requireInteraction, renotify }) => ({ title, body, tag, data, requireInteraction, renotify })))"
)


def trusted(url: str) -> str:
    """The child's page by the name in its certificate."""
    return f"https://{socket.gethostname().split('.')[0].lower()}.local:{urllib.parse.urlsplit(url).port}/"


class Trusting(Phone):
    """Has the child's root certificate installed, as the page tells people to; overlooks no error."""

    insecure = False
    #: PEM files of others that it trusts.
    authorities: tuple[str, ...] = ()
    #: The child's.
    address = "127.0.0.1"

    def __init__(self, url: str):
        # The certificate is for the machine's name, which no resolver knows here.
        super().__init__(trusted(url))

    def switches(self) -> list[str]:
        return [switch for switch in super().switches() if "host-resolver" not in switch] + [f"--host-resolver-rules=MAP *.local {self.address}"]

    def start(self, command: list[str]) -> str:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        root = pathlib.Path(self.profile, "root.crt")
        port = urllib.parse.urlsplit(self.options.url).port
        with urllib.request.urlopen(f"https://{self.address}:{port}/certificate.crt", context=context, timeout=PATIENCE) as reply:
            root.write_bytes(reply.read())
        for place in (".pki/nssdb", ".local/share/pki/nssdb"):
            folder = pathlib.Path(self.environment["HOME"], place)
            folder.mkdir(parents=True)
            base = ["certutil", "-d", f"sql:{folder}"]
            subprocess.run([*base, "-N", "--empty-password"], check=True)
            for number, file in enumerate([str(root), *self.authorities]):
                subprocess.run([*base, "-A", "-t", "C,,", "-n", f"authority {number}", "-i", file], check=True)
        return super().start(command)


class Pushes(Edges):
    def __init__(self, options: Any, steps: list[str]):
        super().__init__(options, steps)
        folder = pathlib.Path(options.speaker)
        self.service = PushService(f"{folder}.pem", f"{folder}.key")
        self.camera = pathlib.Path(f"{folder}.camera")
        self.state = pathlib.Path(options.runtime_directory).parent / "state"

    def subscribing(self, *scripts: str, kind: type[Phone] = Trusting) -> Phone:
        receiver = self.service.receiver
        script = SUBSCRIPTION.replace("ORIGIN", self.service.origin)
        script = script.replace("POINT", encoded(receiver.point)).replace("SECRET", encoded(receiver.secret))
        return self.prepared(script, *scripts, kind=kind)

    def allow(self, phone: Phone, setting: str) -> None:
        phone.remote.command(
            "Browser.setPermission", permission={"name": "notifications"}, setting=setting, origin=self.url.rstrip("/")
        )

    def open_settings(self, phone: Phone) -> None:
        phone.evaluate("document.querySelector('.top button:last-child').click(), 0")
        phone.wait("the settings", "!!document.querySelector('[data-screen=settings]')")

    def reopen_settings(self, phone: Phone) -> None:
        phone.evaluate("history.back(), 0")
        phone.wait("the picture", "!document.querySelector('[data-screen=settings]')")
        self.open_settings(phone)

    def wait_for(self, what: str, condition: Any, seconds: float = PATIENCE) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.1)
        raise browsers.BrowserError(f"not seen: {what}; {self.service.messages[-2:]}")

    def message(self, kind: str, after: int) -> dict[str, Any]:
        """The first message of this kind after so many, which was decrypted and is by the right sender."""
        def found() -> Any:
            return next((m for m in self.service.messages[after:] if "problem" in m or m["content"]["kind"] == kind), None)
        message = dict(self.wait_for(f"a message {kind}", found))
        if "problem" in message:
            raise browsers.BrowserError(f"not as it should be: {message}")
        return message

    def child_status(self) -> dict[str, Any]:
        return dict(self.child.ask("status"))

    def status(self) -> list[dict[str, Any]]:
        return list(self.child_status().get("pushes") or [])

    def states(self) -> None:
        """Why the switch is not to be had, each with its reason."""
        for script, words in ((NO_PUSH, "This browser cannot do that."), (NO_WORKER, "has to trust the certificate first")):
            phone = self.prepared(script)
            self.join(phone)
            self.open_settings(phone)
            self.says(phone, "why not", words)
            if not phone.evaluate(f"{SWITCH}.disabled"):
                raise browsers.BrowserError("a switch that does nothing")
            self.says(phone, "that it is never the only alarm", "Never the only alarm")
            phone.close()
        self.seen("not supported")
        self.seen("not trusted")
        phone = self.subscribing(kind=Phone)
        self.join(phone)
        self.allow(phone, "denied")
        self.open_settings(phone)
        self.says(phone, "that it is denied", "does not allow this page any notifications")
        self.seen("denied")
        self.allow(phone, "granted")
        self.reopen_settings(phone)
        phone.wait("the switch", f"!{SWITCH}.disabled && !{SWITCH}.checked")
        self.seen("off")
        # This child pushes to no private network, which is where the test's push service is.
        phone.tap("[data-setting=push]")
        self.says(phone, "that the address is refused", "is in a private network")
        phone.wait("the switch off", f"!{SWITCH}.disabled && !{SWITCH}.checked")
        if self.status() or (self.state / "push.json").exists():
            raise browsers.BrowserError("a refused subscription is kept")
        self.expect_no_errors(phone)
        self.seen("private network refused")
        phone.close()

    def alarms(self) -> None:
        """On, a test, a lost camera, its notification, acknowledged; ended by the push service, by the switch, by unpairing."""
        self.url = trusted(self.url)
        phone = self.subscribing()
        self.allow(phone, "granted")
        self.join(phone)
        if not phone.evaluate("navigator.serviceWorker.getRegistration().then(Boolean)"):
            raise browsers.BrowserError("no service worker although the certificate is trusted")
        self.seen("trusted")
        self.open_settings(phone)
        phone.wait("the switch", f"!{SWITCH}.disabled && !{SWITCH}.checked")
        phone.tap("[data-setting=push]")
        phone.wait("the switch on", f"!{SWITCH}.disabled && {SWITCH}.checked")
        self.check_files()
        self.seen("on")

        phone.tap("[data-do=push-test]")
        message = self.message("test", 0)
        self.check_request(phone, message)
        self.says(phone, "that it was sent", "Sent. The notification should appear")
        self.seen("test")

        self.service.answers = [(429, {"Retry-After": "3"}), (503, {})]
        before = len(self.service.messages)
        self.camera.unlink()
        message = self.message("camera-lost", before)
        self.wait_for("the third try", lambda: len(self.service.messages) >= before + 3)
        tries = self.service.messages[before : before + 3]
        if [t["status"] for t in tries] != [429, 503, 201] or tries[1]["at"] - tries[0]["at"] < 3 or len({t["headers"]["Topic"] for t in tries}) != 1:
            raise browsers.BrowserError(f"tries: {tries}")
        if len({t["size"] for t in self.service.messages}) != 1:
            raise browsers.BrowserError("the sizes tell test and alarm apart")
        self.seen("lost camera, tried again")

        self.check_notification(phone, message)
        self.check_end(phone)
        self.expect_no_errors(phone)
        phone.close()

    def contact(self) -> None:
        """A child without a contact: the phone asks for one, the push service gets it, and what it refuses is said."""
        self.url = trusted(self.url)
        phone = self.subscribing()
        self.allow(phone, "granted")
        self.join(phone)
        self.open_settings(phone)
        phone.wait("the switch", f"!{SWITCH}.disabled && !{SWITCH}.checked")
        phone.tap("[data-setting=push]")
        phone.wait("the field", "document.querySelector('[data-setting=push-contact]')?.closest('label').hidden === false")
        self.says(phone, "that it is asked for", "First write your e-mail address above.")
        if self.status():
            raise browsers.BrowserError("switched on without a contact")
        self.seen("asked")
        phone.evaluate("(() => { const e = document.querySelector('[data-setting=push-contact]'); e.value = 'anna@example.org'; e.dispatchEvent(new Event('change')); return 0; })()")
        phone.tap("[data-setting=push]")
        phone.wait("the switch on", f"!{SWITCH}.disabled && {SWITCH}.checked")
        phone.tap("[data-do=push-test]")
        message = self.message("test", 0)
        if message["claims"]["sub"] != "mailto:anna@example.org":
            raise browsers.BrowserError(f"the sender: {message}")
        self.says(phone, "that it was sent", "Sent. The notification should appear")
        self.seen("on")
        self.service.answers = [(403, {"body": '{"reason":"BadJwtToken"}'})]
        time.sleep(3.2)
        phone.tap("[data-do=push-test]")
        self.says(phone, "who refuses, and why", "the push service answered 403 BadJwtToken")
        self.expect_no_errors(phone)
        self.seen("refused")
        phone.close()

    def silent(self) -> None:
        """The push service does not answer: the switch says so, is off and usable; what comes late is given back."""
        self.url = trusted(self.url)
        phone = self.subscribing(SILENT)
        self.allow(phone, "granted")
        self.join(phone)
        self.open_settings(phone)
        phone.wait("the switch", f"!{SWITCH}.disabled && !{SWITCH}.checked")
        for step in ("late", "after a reload"):
            phone.tap("[data-setting=push]")
            self.says(phone, "what it waits for", "Waiting for the browser’s push service")
            if not phone.evaluate(f"{SWITCH}.disabled"):
                raise browsers.BrowserError("it can be switched while it waits")
            phone.wait("why it is off", f"{SWITCH}.closest('label').innerText.includes('push service did not answer') && !{SWITCH}.disabled && !{SWITCH}.checked")
            phone.evaluate("answerLate(), 0")
            if step == "late":
                phone.wait("that it was given back", "localStorage.getItem('test-number') === '1' && !localStorage.getItem('test-subscription')")
            else:
                # Nothing was there to give it back.
                phone.evaluate("localStorage.setItem('test-subscription', JSON.stringify({ endpoint: 'https://push.invalid/7', keys: {} })), 0")
                phone.enter(self.url)
                self.wait_live(phone)
                self.open_settings(phone)
                phone.wait("the switch", f"!{SWITCH}.disabled && !{SWITCH}.checked")
            if self.status():
                raise browsers.BrowserError(f"{step}: on at the camera, off on the page")
            self.seen(step)
        phone.evaluate("(globalThis.isAnswering = true, 0)")
        phone.tap("[data-setting=push]")
        phone.wait("the switch on", f"!{SWITCH}.disabled && {SWITCH}.checked")
        if len(self.status()) != 1:
            raise browsers.BrowserError("on on the page, off at the camera")
        self.expect_no_errors(phone)
        self.seen("on")
        phone.close()

    def check_files(self) -> None:
        for name in ("push.json", "push.pem"):
            if os.stat(self.state / name).st_mode & 0o777 != 0o600:
                raise browsers.BrowserError(f"others may read {name}")
        stored = json.loads((self.state / "push.json").read_text())
        if stored["version"] != 1 or stored["subscriptions"][0]["endpoint"] != f"{self.service.origin}/push/1":
            raise browsers.BrowserError(f"stored: {stored}")

    def check_request(self, phone: Phone, message: dict[str, Any]) -> None:
        headers = message["headers"]
        wanted = {"TTL": "3600", "Urgency": "high", "Content-Encoding": "aes128gcm"}
        if {name: headers.get(name) for name in wanted} != wanted or len(headers["Topic"]) != 32 or message["path"] != "/push/1":
            raise browsers.BrowserError(f"the request: {message}")
        used = phone.evaluate("subscribedWith").replace("+", "-").replace("/", "_").rstrip("=")
        if message["key"] != used or message["claims"]["sub"] != "mailto:family@example.org":
            raise browsers.BrowserError(f"the sender: {message}")

    def check_notification(self, phone: Phone, message: dict[str, Any]) -> None:
        """As if the push service had delivered it."""
        origin = self.url.rstrip("/")
        phone.remote.command("ServiceWorker.enable")
        number = self.registration(phone)
        data = json.dumps(message["content"])
        phone.remote.command("ServiceWorker.deliverPushMessage", origin=origin, registrationId=number, data=data)
        shown = self.wait_for("the notification", lambda: phone.evaluate(NOTIFICATIONS))
        notification = shown[0]
        if len(shown) != 1 or notification["title"] != "Nursery: No picture from the camera" or not notification["requireInteraction"]:
            raise browsers.BrowserError(f"shown: {shown}")
        if notification["tag"] != "cradle-alarm:camera-lost:cot" or not notification["renotify"] or "cot" not in notification["body"]:
            raise browsers.BrowserError(f"shown: {shown}")
        # A newer one takes its place.
        phone.remote.command("ServiceWorker.deliverPushMessage", origin=origin, registrationId=number, data=data)
        # What is no message of ours is shown all the same: the browser demands it.
        phone.remote.command("ServiceWorker.deliverPushMessage", origin=origin, registrationId=number, data="no JSON")
        self.wait_for("two notifications", lambda: len(phone.evaluate(NOTIFICATIONS)) == 2)
        self.seen("notification")

        phone.evaluate("document.querySelector('dialog.alarm[open] .acknowledge')?.click(), 0")
        self.wait_for("no notification once it was acknowledged", lambda: phone.evaluate(NOTIFICATIONS) == [])
        self.seen("acknowledged by the alarm's button")

        # The tap itself is the system's; its event goes to the worker.
        phone.remote.command("ServiceWorker.deliverPushMessage", origin=origin, registrationId=number, data=data)
        self.wait_for("the notification", lambda: phone.evaluate(NOTIFICATIONS))
        self.in_worker(phone,
            "registration.getNotifications().then(([notification]) => dispatchEvent(new NotificationEvent('notificationclick', { notification })))")
        phone.wait("the pushed alarm", "document.querySelector('dialog.pushed[open] h2')?.textContent === 'Nursery: No picture from the camera'")
        self.seen("tapped")
        phone.tap("dialog.pushed .acknowledge")
        phone.wait("the alarm gone", "!document.querySelector('dialog.pushed')")
        self.wait_for("no notification once it was acknowledged", lambda: phone.evaluate(NOTIFICATIONS) == [])
        # Opened by hand while it is shown.
        phone.remote.command("ServiceWorker.deliverPushMessage", origin=origin, registrationId=number, data=data)
        self.wait_for("the notification", lambda: phone.evaluate(NOTIFICATIONS))
        phone.enter(self.url)
        phone.wait("the pushed alarm", "!!document.querySelector('dialog.pushed[open]')")
        phone.evaluate("document.querySelector('dialog.pushed .acknowledge').click(), 0")
        self.wait_for("no notification once it was acknowledged", lambda: phone.evaluate(NOTIFICATIONS) == [])
        self.seen("acknowledged")

    def worker_socket(self, phone: Phone) -> browsers.Remote:
        port = (pathlib.Path(phone.profile) / phone.port_file).read_text().split()[0]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE) as reply:
            targets = json.load(reply)
        return browsers.Remote(next(t["webSocketDebuggerUrl"] for t in targets if t["type"] == "service_worker"))

    def in_worker(self, phone: Phone, expression: str) -> None:
        reply = self.worker_socket(phone).command("Runtime.evaluate", expression=expression, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise browsers.BrowserError(f"in the worker: {reply['exceptionDetails']}")

    def registration(self, phone: Phone) -> str:
        """The number that the debugger gives to the page's worker; it tells it when the worker is known to it."""
        phone.remote.socket.send(json.dumps({"id": 100_000, "method": "ServiceWorker.enable", "params": {}}))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            event = json.loads(phone.remote.socket.recv(PATIENCE))
            for entry in event.get("params", {}).get("registrations", []):
                if not entry["isDeleted"]:
                    return str(entry["registrationId"])
        raise browsers.BrowserError("no registration of a worker")

    def check_end(self, phone: Phone) -> None:
        def is_off() -> bool:
            return not self.status() and not json.loads((self.state / "push.json").read_text())["subscriptions"]

        self.camera.touch()
        # The child tries it again after some seconds; until then the alarm rings over the settings.
        self.wait_for("the camera", lambda: self.child_status()["cameras"][0]["state"] == "running")
        self.wait_live(phone)
        phone.wait("no alarm", "!document.querySelector('dialog.alarm[open]')")
        self.open_settings(phone)
        phone.wait("the switch on", f"!{SWITCH}.disabled && {SWITCH}.checked")
        self.service.answers = [(410, {})]
        phone.tap("[data-do=push-test]")
        self.says(phone, "that it was refused", "The push service refused it.")
        self.wait_for("the end of a subscription that is gone", is_off)
        self.seen("gone")
        # The page subscribes anew with its next connection.
        phone.enter(self.url)
        self.wait_for("a new subscription", lambda: (self.status() or [{}])[0].get("state"))
        self.wait_live(phone)
        self.open_settings(phone)
        phone.wait("the switch on", f"!{SWITCH}.disabled && {SWITCH}.checked")
        self.seen("subscribed again")
        phone.tap("[data-setting=push]")
        phone.wait("the switch off", f"!{SWITCH}.disabled && !{SWITCH}.checked")
        self.wait_for("the end", is_off)
        self.seen("switched off")
        phone.tap("[data-setting=push]")
        phone.wait("the switch on", f"!{SWITCH}.disabled && {SWITCH}.checked")
        if is_off():
            raise browsers.BrowserError("not on again")
        self.child.output("unpair", "--all")
        self.wait_for("the end with the pair", is_off)
        if list((self.state / "push").glob("*")):
            raise browsers.BrowserError("undelivered alarms of an unpaired browser are kept")
        self.seen("unpaired")


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Pushes, ("states", "alarms", "contact", "silent")))
