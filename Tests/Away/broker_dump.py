"""Whoever has everything that passed a broker, and may write there, gets nothing by it.

    broker_dump.py --child PROGRAM --parent PROGRAM

A mosquitto with an account that reads all topics. A parent meets its child there and watches; then what was recorded is searched
for secrets, and played back. Needs root, nftables, coturn, mosquitto and mosquitto-clients.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cradle.ends import AwayChild, Parent
from cradle.internet import CHILD_PORT, SERVER, Internet
from cradle.meeting_servers import SECRET, Broker, Coturn

SPY = ("spy", "secret of the spy")


def messages(world: Internet, folder: Path) -> list[str]:
    """The options of mosquitto's clients."""
    return ["-h", SERVER, "-p", "8883", "--cafile", str(folder / "authority.pem")]


class SpiedBroker(Broker):
    """Its administrator reads along."""

    def __init__(self, world: Internet, folder: Path):
        super().__init__(world, folder)
        self.close()
        subprocess.run(["mosquitto_passwd", "-b", str(folder / "passwords"), *SPY], check=True)
        configuration = folder / "mosquitto.conf"
        text = configuration.read_text()
        acl = re.search(r"^acl_file (.*)$", text, re.MULTILINE)
        assert acl
        (folder / "acl").write_text(f"{Path(acl[1]).read_text()}\nuser {SPY[0]}\ntopic read #\n")
        configuration.write_text(text.replace(acl[0], f"acl_file {folder / 'acl'}"))
        self.start()


def decoded(dump: bytes) -> bytes:
    """And what stands in it in base64url, as in JWS (RFC 7515)."""
    parts = [dump]
    for part in re.findall(rb"[A-Za-z0-9_-]{24,}", dump):
        parts.append(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4)) if len(part) % 4 != 1 else b"")
    return b"\n".join(parts)


def viewers(child: AwayChild) -> int:
    return child.log.read_text("utf-8", "replace").count("viewer is connecting")


def problems(world: Internet, folder: Path, options: argparse.Namespace) -> list[str]:
    world.child.connect("none")
    coturn, broker = Coturn(world, folder), SpiedBroker(world, folder)
    relay = f"[{{urls: ['turn:{SERVER}:3478?transport=udp'], secret: {SECRET}}}]"
    child = AwayChild(options.child, world.child, folder, relay, f"[{broker.meeting}]")
    prefix = ["ip", "netns", "exec", world.server]
    spy = None
    try:
        parent = Parent(options.parent, world.parent, folder)
        parent.pair_at_home(child, f"{world.child.public}:{CHILD_PORT}")
        for end in (world.child, world.parent):
            end.connect("symmetric")
        with (folder / "dump").open("wb") as dump:
            spy = subprocess.Popen(
                [*prefix, "stdbuf", "-oL", "mosquitto_sub", *messages(world, folder), "-u", SPY[0], "-P", SPY[1], "-t", "#", "-F", "%t %x"], stdout=dump)
            child.wait_until_met()
            seen = parent.watch("Away", until=lambda line: bool(line["framesDecoded"] and line["relayed"]))
            time.sleep(1)
            # Killed: it may have inherited that SIGTERM is blocked.
            spy.kill()
            spy.wait(30)
        lines = [line.split(" ", 1) for line in (folder / "dump").read_text().splitlines()]
        recorded = [(topic, bytes.fromhex(payload)) for topic, payload in lines]
        asked = [(topic, payload) for topic, payload in recorded if topic.endswith("/in")]
        wrong = []
        if not seen.get("framesDecoded") or not seen.get("relayed"):
            wrong.append(f"no relayed picture: {seen.get('said')}")
        if not any(b"candidate:" in decoded(payload) for _, payload in asked):
            wrong.append("the offer was not recorded, so nothing is shown")
        everything = decoded(b"\n".join(payload for _, payload in recorded))
        away = (folder / "parent").rglob("away.json")
        known = [json.loads(path.read_text()) for path in away]
        secrets = {SECRET, "secret of child", "secret of parents", *credentials(known)}
        if len(secrets) < 5:
            wrong.append(f"the parent has no credentials of the relay to look for: {known}")
        wrong += [f"{secret} stands in it" for secret in secrets if secret.encode() in everything]
        wrong += [f"{word} stands in it" for word in ("PRIVATE KEY", "credential", "password") if word.encode() in everything]
        # Played back, to the last message.
        before = viewers(child)
        for topic, payload in asked:
            subprocess.run(
                [*prefix, "mosquitto_pub", *messages(world, folder), "-u", "parents", "-P", "secret of parents", "-q", "1", "-t", topic, "-s"],
                input=payload, check=True)  # fmt: skip
        time.sleep(3)
        if viewers(child) != before:
            wrong.append("what was played back was taken for a parent")
        again = parent.watch("Away", until=lambda line: bool(line["framesDecoded"]))
        if not again.get("framesDecoded"):
            wrong.append(f"the parent does not get in any more: {again.get('said')}")
        print(f"{len(recorded)} messages recorded, {len(asked)} played back")
        if wrong:
            print(child.log.read_text("utf-8", "replace")[-2000:], file=sys.stderr)
        return wrong
    finally:
        if spy:
            spy.kill()
        child.close()
        broker.close()
        coturn.close()


def credentials(node: object) -> set[str]:
    """Of the relays that the parent knows."""
    if isinstance(node, list):
        return set().union(*map(credentials, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = {str(node[key]) for key in ("username", "credential") if node.get(key)}
    return own.union(*(credentials(value) for value in node.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet(is_forwarded=False) as world:
        wrong = problems(world, Path(temporary), parser.parse_args())
    print("as expected" if not wrong else "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
