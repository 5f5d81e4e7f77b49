#!/usr/bin/env python3
"""Stands between a paired parent and its child, with a TLS certificate of its own, and tries what it can.

Prints `listening on PORT`; then takes one command a line on standard input and answers each with one JSON object:

- `relay`, `fingerprint`, `resign`: from now on answers of the child pass as they are, with another DTLS fingerprint under the
  old signature, or with another fingerprint signed by our own key
- `seen`: what has passed so far, by type, and whether a description could be read
- `replay`: plays the last offer again, on the connection it came over and on a new one; what the child said to each
- `stranger`: makes an offer of our own, under our own name and under the parent's
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import datetime
import json
import os
import re
import ssl
import sys
import tempfile
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from cradle.identity import Identity, base64url, from_base64url


class Stranger(Identity):
    """A key as a parent has one, paired with nobody."""

    def certificate(self) -> ssl.SSLContext:
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Nursery")])
        now = datetime.datetime.now(datetime.timezone.utc)
        certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self.key.public_key())
            .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1)).sign(self.key, hashes.SHA256())
        )  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate.public_bytes(serialization.Encoding.PEM))
            file.write(
                self.key.private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            file.flush()
            context.load_cert_chain(file.name)
        return context


def with_other_fingerprint(sdp: str) -> str:
    """Ours, if we had a DTLS endpoint to go with it."""
    return re.sub(r"(a=fingerprint:sha-256 )\S+", lambda m: m[1] + ":".join(["AB"] * 32), sdp)


class Middle:
    def __init__(self, url: str):
        self.url = url
        self.identity = Stranger()
        self.mode = "relay"
        self.seen: collections.Counter[str] = collections.Counter()
        self.readable = 0
        #: What the parent sent with its last offer, and where it went.
        self.offer: dict[str, Any] | None = None
        self.upstream: ClientConnection | None = None
        self.room = ""
        #: What the child says on a connection whose parent is gone.
        self.late: list[str] = []
        self.trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.trusting.check_hostname = False
        self.trusting.verify_mode = ssl.CERT_NONE

    def note(self, text: str) -> dict[str, Any] | None:
        """The payload of a signed message that passes."""
        message = json.loads(text)
        if not isinstance(message.get("msg"), str):
            return None
        payload = dict(json.loads(from_base64url(message["msg"].split(".")[1])))
        self.seen[payload["type"]] += 1
        self.readable += "sdp" in payload
        return payload

    def from_parent(self, text: str) -> str:
        message = json.loads(text)
        if message.get("cmd") == "register":
            self.room = message["roomid"]
        payload = self.note(text)
        if payload and payload["type"] == "offer":
            self.offer = message
        return text

    def from_child(self, text: str) -> str:
        payload = self.note(text)
        if not payload or payload["type"] != "answer" or self.mode == "relay":
            return text
        message = json.loads(text)
        payload["sdp"] = with_other_fingerprint(payload["sdp"])
        if self.mode == "resign":
            message["msg"] = self.identity.signed(payload)
        else:
            header, _, signature = message["msg"].split(".")
            message["msg"] = ".".join([header, base64url(json.dumps(payload).encode()), signature])
        return json.dumps(message)

    async def handle(self, parent: ServerConnection) -> None:
        child = self.upstream = await connect(self.url, ssl=self.trusting)
        self.late = []

        async def forward() -> None:
            try:
                async for text in child:
                    try:
                        await parent.send(self.from_child(str(text)))
                    except ConnectionClosed:
                        self.late.append(str(text))
            except ConnectionClosed:
                # The child refused it.
                pass

        forwarding = asyncio.ensure_future(forward())
        try:
            async for text in parent:
                await child.send(self.from_parent(str(text)))
        except ConnectionClosed:
            pass
        # The connection to the child stays, for what may be done with it.
        await asyncio.wait([forwarding], timeout=30)
        await child.close()

    # Commands

    async def say(self, make: Any) -> dict[str, str]:
        """Registers anew, says what `make` gives for the challenge; the error that comes of it."""
        async with connect(self.url, ssl=self.trusting) as socket:
            await socket.send(json.dumps({"cmd": "register", "roomid": self.room, "clientid": base64url(os.urandom(16))}))
            registered = json.loads(await socket.recv())["registered"]
            await socket.send(json.dumps({"cmd": "send", "to": self.room, "msg": make(registered["challenge"])}))
            return await self.refusal(socket)

    @staticmethod
    async def refusal(socket: ClientConnection) -> dict[str, str]:
        types = []
        try:
            while True:
                message = json.loads(await asyncio.wait_for(socket.recv(), 10))
                if "error" in message:
                    return dict(message["error"])
                if "msg" in message:
                    types.append(json.loads(from_base64url(message["msg"].split(".")[1]))["type"])
        except (ConnectionClosed, TimeoutError):
            return {"code": "none", "message": f"after {types}"}

    async def replay(self) -> dict[str, Any]:
        assert self.offer and self.upstream
        old = self.offer
        again = await self.say(lambda challenge: old["msg"])
        before = len(self.late)
        try:
            await self.upstream.send(json.dumps(old))
            for _ in range(100):
                if any("error" in json.loads(text) for text in self.late[before:]):
                    break
                await asyncio.sleep(0.05)
        except ConnectionClosed:
            pass
        errors = [json.loads(text)["error"] for text in self.late[before:] if "error" in json.loads(text)]
        return {"newConnection": again, "sameConnection": errors[0] if errors else {"code": "none", "message": ""}}

    async def stranger(self) -> dict[str, Any]:
        assert self.offer
        theirs = json.loads(from_base64url(self.offer["msg"].split(".")[1]))

        def offer(sender: str, kid: str) -> Any:
            return lambda challenge: self.identity.signed(
                theirs | {"from": sender, "session": base64url(os.urandom(16)), "challenge": challenge}, kid=kid)

        parent = theirs["from"]
        return {
            "ownName": await self.say(offer(self.identity.id, self.identity.id)),
            "parentsName": await self.say(offer(parent, parent)),
            "parentsNameOwnHeader": await self.say(offer(parent, self.identity.id)),
        }

    async def command(self, text: str) -> dict[str, Any]:
        if text in ("relay", "fingerprint", "resign"):
            self.mode = text
            return {"mode": text}
        if text == "seen":
            return {"types": dict(self.seen), "readable": self.readable}
        return await {"replay": self.replay, "stranger": self.stranger}[text]()


async def run(url: str) -> None:
    middle = Middle(url)
    async with serve(middle.handle, "127.0.0.1", 0, ssl=middle.identity.certificate()) as server:
        print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await middle.command(line.strip())), flush=True)
        # Connections that were kept open would be waited for.
        os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", required=True, help="wss://HOST:PORT/signal")
    asyncio.run(run(parser.parse_args().child))
