"""Viewers in one process that count what they receive and decode nothing (`cradle-benchmarks crowd`), with their sessions: some
have tokens, some are paired.

Commands on standard input, one JSON object a line in return: `add` connects one more viewer and answers when its picture
flows; `keep N` sends those beyond the first N away; `report` says what each received. The end of standard input ends everything.
"""

from __future__ import annotations

import argparse
import json
import os
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

from websockets.sync.client import ClientConnection, connect

from cradle import viewing
from cradle.identity import Identity, base64url, from_base64url


class PairedSession:
    """One session of a paired parent in the child's own room. interfaces/wire.md, "Rooms"."""

    def __init__(self, url: str, state: Path):
        """`url`: the child's origin; `state`: the state directory of a `cradle-parent` that is paired with this child alone."""
        self.parent = Identity(state / "identity.pem")
        self.child = json.loads((state / "pairs.json").read_text())["pairs"][0]["id"]
        self.session = base64url(os.urandom(16))
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # What the child says is signed; here nobody is in between.
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        # Open as long as the session.
        self.line: ClientConnection = connect(f"{url}/signal".replace("https:", "wss:"), ssl=trusting, compression=None, proxy=None)

    def answer(self, offer: str) -> str:
        self.tell(cmd="register", roomid=self.child, clientid=base64url(os.urandom(16)))
        challenge = json.loads(self.line.recv(10))["registered"]["challenge"]
        message = {"from": self.parent.id, "to": self.child, "session": self.session, "challenge": challenge, "type": "offer", "sdp": offer}
        self.tell(cmd="send", to=self.child, msg=self.parent.signed(message))
        while True:
            reply = json.loads(self.line.recv(10))
            if "error" in reply:
                raise RuntimeError(f"the room: {reply['error']}")
            said = json.loads(from_base64url(reply["msg"].split(".")[1])) if "msg" in reply else {}
            if said.get("type") == "bye":
                raise RuntimeError(f"the child says goodbye: {said.get('reason')}")
            if said.get("type") == "answer":
                return str(said["sdp"])

    def tell(self, **message: str) -> None:
        self.line.send(json.dumps(message))

    def end(self) -> None:
        self.line.close()


class TokenSession:
    def __init__(self, url: str, token: str):
        self.whep = viewing.WhepSession(f"{url}/whep", token)

    def answer(self, offer: str) -> str:
        return self.whep.post(offer).sdp

    def end(self) -> None:
        """The viewer has said goodbye; that ended it."""


class Viewers:
    def __init__(self, benchmarks: str, families: list[Callable[[], TokenSession | PairedSession]]):
        self.families = families
        self.sessions: list[TokenSession | PairedSession] = []
        self.program = subprocess.Popen([benchmarks, "crowd"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line: str) -> dict[str, Any]:
        assert self.program.stdin and self.program.stdout
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        reply = dict(json.loads(self.program.stdout.readline()))
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply

    def add(self) -> dict[str, Any]:
        session = self.families[len(self.sessions) % len(self.families)]()
        self.sessions.append(session)
        return self.ask(json.dumps({"answer": session.answer(self.ask("add")["offer"])}))

    def keep(self, count: int) -> dict[str, Any]:
        reply = self.ask(f"keep {count}")
        for session in self.sessions[count:]:
            session.end()
        del self.sessions[count:]
        return reply

    def obey(self, command: str) -> dict[str, Any]:
        match command.split():
            case ["add"]:
                return self.add()
            case ["keep", count]:
                return self.keep(int(count))
            case _:
                return self.ask("report")

    def leave(self) -> None:
        """They say goodbye themselves."""
        self.program.communicate(timeout=10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="the child's origin")
    parser.add_argument("--benchmarks", required=True, help="the cradle-benchmarks program")
    parser.add_argument("--token", default="", help="tokens, separated by commas")
    parser.add_argument("--paired", default="", help="state directories of paired parents, separated by commas; all are used in turns")
    options = parser.parse_args()
    families: list[Callable[[], TokenSession | PairedSession]] = []
    families += [lambda token=token: TokenSession(options.url, token) for token in options.token.split(",") if token]
    families += [lambda state=state: PairedSession(options.url, Path(state)) for state in options.paired.split(",") if state]
    viewers = Viewers(options.benchmarks, families)
    for command in sys.stdin:
        try:
            reply = viewers.obey(command)
        except Exception as error:  # said to whoever gave the command, who knows what to do without this viewer
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
    viewers.leave()


if __name__ == "__main__":
    main()
