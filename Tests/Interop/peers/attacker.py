#!/usr/bin/env python3
"""Leans on a child's door in one way for some seconds or until SIGTERM, and says what came of it: one JSON object on standard
output. rendezvous_attacker.py does it to a rendezvous.

Needs nothing but Python. What is counted: `attempted`, what came back by its code (`answers`: HTTP statuses, WebSocket close
codes, "closed" for a connection that just ended, "refused" for one that was not made), and what the attack is about.
"""

from __future__ import annotations

import argparse
import base64
import collections
import ipaddress
import json
import os
import re
import resource
import select
import signal
import socket
import ssl
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator
from urllib.parse import urljoin

Result = dict[str, Any]
#: Seconds that answers are waited for on a busy machine.
PATIENCE = 30


class Target:
    def __init__(self, options: argparse.Namespace):
        self.host, self.port, self.media_port = options.host, options.port, options.media_port
        self.first_source, self.sources = options.source, options.sources
        self.seconds, self.count, self.room, self.parent = options.seconds, options.count, options.room, options.parent
        self.token, self.key = options.token, options.key
        self.awaited, _, self.enough = options.enough.rpartition(":")
        self.connections = 0
        self.answers: collections.Counter[str] = collections.Counter()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE
        self.deadline = time.monotonic() + self.seconds

    @property
    def source(self) -> str:
        """The address of the next connection: one after the other of `sources`, from the first on."""
        self.connections += 1
        return str(ipaddress.ip_address(self.first_source) + self.connections % self.sources)

    @property
    def goes_on(self) -> bool:
        """Until time is up, and then for a while until there are enough of the answers that are waited for."""
        late = time.monotonic() - self.deadline
        return late < 0 or late < PATIENCE and self.answers[self.awaited] < int(self.enough)

    def tcp(self) -> socket.socket | None:
        """A connection, or nothing when none can be had."""
        try:
            connection = socket.create_connection((self.host, self.port), 5, (self.source, 0))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError:
            self.answers["refused"] += 1
            return None

    def tls(self) -> ssl.SSLSocket | None:
        plain = self.tcp()
        if plain is None:
            return None
        try:
            return self.context.wrap_socket(plain)
        except OSError:
            self.answers["refused"] += 1
            plain.close()
            return None


def statuses(data: bytes) -> Iterator[str]:
    """Of all responses in what was received."""
    for line in data.split(b"\r\n"):
        # A body without a line's end may stand in front.
        at = line.find(b"HTTP/1.1 ")
        if at >= 0:
            yield line[at + 9 : at + 12].decode("latin-1")


def read_rest(connection: ssl.SSLSocket, seconds: float) -> bytes:
    """Until the other side closes, or time is up."""
    data = b""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            piece = connection.recv(65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    return data


def read_response(connection: ssl.SSLSocket) -> bytes:
    """One response whose length is announced; what came of it when it ends early."""
    data = b""
    try:
        while b"\r\n\r\n" not in data and (piece := connection.recv(65536)):
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        announced = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        left = int(announced or 0) - len(body)
        while left > 0 and (piece := connection.recv(65536)):
            data += piece
            left -= len(piece)
    except OSError:
        pass
    return data


def none(target: Target) -> Result:
    """Nothing at all: what is measured meanwhile is the machine's own."""
    time.sleep(target.seconds)
    return {"attempted": 0}


def idle(target: Target) -> Result:
    """TCP connections that say nothing, opened as fast as they come and held."""
    poll = select.poll()
    held: dict[int, socket.socket] = {}
    attempted = opened = 0
    most = 0

    def sweep(wait: int) -> None:
        nonlocal opened
        for descriptor, event in poll.poll(wait):
            connection = held[descriptor]
            if event & (select.POLLIN | select.POLLERR | select.POLLHUP):
                # Nothing is ever said to a silent one: this is its end.
                poll.unregister(descriptor)
                del held[descriptor]
                target.answers["refused" if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) else "closed"] += 1
                connection.close()
            else:
                opened += 1
                poll.modify(descriptor, select.POLLIN)

    while target.goes_on:
        while attempted < target.count and target.goes_on:
            connection = socket.socket()
            connection.setblocking(False)
            connection.bind((target.source, 0))
            connection.connect_ex((target.host, target.port))
            held[connection.fileno()] = connection
            poll.register(connection.fileno(), select.POLLOUT | select.POLLIN)
            attempted += 1
            if attempted % 64 == 0:
                sweep(0)
                most = max(most, len(held))
        sweep(100)
        most = max(most, len(held))
    result = {"attempted": attempted, "opened": opened, "mostHeld": most, "heldAtEnd": len(held)}
    for connection in held.values():
        connection.close()
    return result


def slow(target: Target) -> Result:
    """Requests that come a byte at a time: half of them headers without end, half bodies."""
    held: list[tuple[ssl.SSLSocket, float, bytes]] = []
    lives: list[float] = []
    attempted = 0
    while target.goes_on:
        while len(held) < min(100, target.count) and attempted < target.count * 4 and target.goes_on:
            attempted += 1
            connection = target.tls()
            if connection is None:
                break
            body = b"POST /pair HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
            start, drip = (b"GET / HTTP/1.1\r\n", b"X-a: b\r\n") if attempted % 2 else (body, b" ")
            connection.settimeout(1)
            connection.send(start)
            held.append((connection, time.monotonic(), drip))
        for entry in list(held):
            connection, began, drip = entry
            try:
                readable, _, _ = select.select([connection], [], [], 0)
                if readable and not connection.recv(4096):
                    raise OSError
                connection.send(drip)
            except OSError:
                held.remove(entry)
                lives.append(time.monotonic() - began)
                target.answers["closed"] += 1
                connection.close()
        time.sleep(0.2)
    return {
        "attempted": attempted, "heldAtEnd": len(held),
        "longestLifeSeconds": round(max(lives + [time.monotonic() - began for _, began, _ in held], default=0), 1),
    }  # fmt: skip


def requests(target: Target) -> Result:
    """Requests by the thousand: eight at a time, each many on a connection without waiting for answers."""
    counts = {"attempted": 0, "retryAfter": 0}
    workers = [threading.Thread(target=send_requests, args=(target, counts)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return counts


def send_requests(target: Target, counts: dict[str, int]) -> None:
    batch = 200
    paths = [b"/healthz", b"/", b"/whep", b"/metrics", b"/signal", b"/nothing"]
    while counts["attempted"] < target.count and target.goes_on:
        connection = target.tls()
        # Those that no connection is to be had for count as well: they were tried.
        attempted = counts["attempted"] = counts["attempted"] + batch
        if connection is None:
            continue
        data = b"".join(
            b"GET %b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n" % paths[(attempted + number) % len(paths)]
            for number in range(batch))  # fmt: skip
        try:
            connection.settimeout(2)
            connection.sendall(data)
            answer = b""
            while answer.count(b"HTTP/1.1 ") < batch and (piece := connection.recv(1 << 20)):
                answer += piece
        except OSError:
            pass
        found = list(statuses(answer))
        target.answers.update(found)
        target.answers["closed"] += batch - len(found)
        counts["retryAfter"] += answer.lower().count(b"\r\nretry-after: ")
        connection.close()


def page_files(target: Target) -> list[bytes]:
    """Paths of the child's page: the largest files among them."""
    connection = target.tls()
    if connection is None:
        return [b"/"]
    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    folder = re.search(rb"/page/[0-9a-f]{16}/", read_response(connection))
    connection.close()
    return [folder[0] + name for name in (b"texts/ru.js", b"texts/de.js", b"app.js")] if folder else [b"/"]


def deaf(target: Target) -> Result:
    """Clients that ask for many things at once, then for one each 60 ms, and take nothing of the answers; every other one
    takes a byte each second. Who is closed comes again."""
    gets = [b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path for path in [*page_files(target), b"/healthz", b"/nothing"]]
    posts = [
        b"%b %b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" % pair
        for pair in ((b"POST", b"/pair"), (b"POST", b"/whep"), (b"DELETE", b"/whep"), (b"HEAD", b"/"))
    ]  # fmt: skip
    # Files most of all: theirs are the long answers.
    kinds = gets[:-2] * 3 + gets + posts
    held: list[tuple[ssl.SSLSocket, socket.socket | None, bytes, list[float]]] = []
    lives: list[float] = []
    attempted = 0
    while target.goes_on:
        while len(held) < target.count and target.goes_on:
            attempted += 1
            plain = socket.socket(socket.AF_INET6 if ":" in target.host else socket.AF_INET)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            try:
                plain.settimeout(5)
                plain.bind((target.source, 0))
                plain.connect((target.host, target.port))
                connection = target.context.wrap_socket(plain)
            except OSError:
                target.answers["refused"] += 1
                plain.close()
                break
            connection.setblocking(False)
            # Past TLS: a byte of what the kernel has.
            sips = socket.fromfd(connection.fileno(), plain.family, socket.SOCK_STREAM) if attempted % 2 else None
            kind = kinds[attempted % len(kinds)]
            held.append((connection, sips, kind * (1490 if attempted <= target.sources else 50), [time.monotonic(), time.monotonic()]))
        for entry in list(held):
            connection, sips, data, (began, sipped) = entry
            try:
                connection.send(data)
                held[held.index(entry)] = (connection, sips, kinds[attempted % len(kinds)], entry[3])
                if sips and time.monotonic() - sipped > 1:
                    entry[3][1] = time.monotonic()
                    if sips.recv(1, socket.MSG_DONTWAIT) == b"":
                        raise OSError
            except (ssl.SSLWantWriteError, BlockingIOError):
                pass
            except OSError:
                held = [one for one in held if one[0] is not connection]
                lives.append(time.monotonic() - began)
                target.answers["closed"] += 1
                connection.close()
                if sips:
                    sips.close()
        time.sleep(0.06)
    return {
        "attempted": attempted, "heldAtEnd": len(held),
        "longestLifeSeconds": round(max(lives + [time.monotonic() - began for _, _, _, (began, _) in held], default=0), 1),
    }  # fmt: skip


def holder(target: Target) -> Result:
    """Connections that each show one valid token once, and are held; others come when they are closed."""
    held: list[ssl.SSLSocket] = []
    attempted = most = 0
    while target.goes_on:
        connection = target.tls() if len(held) < target.count else None
        if connection is not None:
            attempted += 1
            try:
                connection.settimeout(3)
                connection.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\n\r\n" % target.token.encode())
                target.answers[next(statuses(read_response(connection)), "closed")] += 1
                held.append(connection)
            except OSError:
                target.answers["closed"] += 1
                connection.close()
        else:
            time.sleep(0.02)
        most = max(most, len(held))
        readable, _, _ = select.select(held, [], [], 0) if held else ([], [], [])
        for one in readable:
            held.remove(one)
            one.close()
    return {"attempted": attempted, "mostHeld": most, "heldAtEnd": len(held)}


def large(target: Target) -> Result:
    """A megabyte where a few hundred bytes are expected: a header field, many fields, the request line, a body."""
    mega = 1 << 20
    forms = {
        "field": b"GET / HTTP/1.1\r\nHost: x\r\nX-Large: " + b"a" * mega,
        "fields": b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Small: abc\r\n" * (mega // 14),
        "line": b"GET /" + b"a" * mega,
        "body": b"POST /pair HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % mega + b"a" * mega,
        "chunks": b"POST /pair HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + (b"1000\r\n" + b"a" * 4096 + b"\r\n") * (mega // 4096),
    }  # fmt: skip
    attempted = 0
    by_form: dict[str, list[str]] = {name: [] for name in forms}
    while target.goes_on and attempted < target.count:
        for name, data in forms.items():
            attempted += 1
            connection = target.tls()
            if connection is None:
                continue
            connection.settimeout(5)
            try:
                connection.sendall(data)
            except OSError:
                pass
            answer = next(statuses(read_rest(connection, 5)), "closed")
            target.answers[answer] += 1
            if answer not in by_form[name]:
                by_form[name].append(answer)
            connection.close()
        time.sleep(0.05)
    return {"attempted": attempted, "byForm": by_form}


def handshakes(target: Target) -> Result:
    """TLS handshakes, one after the other."""
    attempted = done = 0
    while target.goes_on:
        attempted += 1
        connection = target.tls()
        if connection is not None:
            done += 1
            connection.close()
    return {"attempted": attempted, "completed": done}


# WebSockets


def frame(opcode: int, payload: bytes = b"", final: bool = True, announced: int | None = None) -> bytes:
    """Masked, with a mask of zeros. RFC 6455 section 5.2."""
    length = len(payload) if announced is None else announced
    first = bytes([(0x80 if final else 0) | opcode])
    if length < 126:
        size = bytes([0x80 | length])
    elif length < 65536:
        size = b"\xfe" + struct.pack("!H", length)
    else:
        size = b"\xff" + struct.pack("!Q", length)
    return first + size + bytes(4) + payload


def upgrade(target: Target) -> ssl.SSLSocket | None:
    connection = target.tls()
    if connection is None:
        return None
    try:
        connection.settimeout(3)
        connection.sendall(
            b"GET /signal HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")  # fmt: skip
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(1)
            if not piece:
                raise OSError
            head += piece
    except OSError:
        target.answers["closed"] += 1
        connection.close()
        return None
    status = next(statuses(head), "closed")
    if status != "101":
        target.answers[status] += 1
        connection.close()
        return None
    return connection


def close_code(data: bytes) -> str:
    """Of the last frame, when it is a close frame."""
    at = data.rfind(b"\x88")
    return str(struct.unpack("!H", data[at + 2 : at + 4])[0]) if 0 <= at and at + 4 <= len(data) else "closed"


def register(target: Target, name: str) -> bytes:
    return frame(1, json.dumps({"cmd": "register", "roomid": target.room, "clientid": name}).encode())


def places(target: Target) -> Result:
    """WebSockets that register in the child's room, say nothing more, and come again when they are closed."""
    held: list[ssl.SSLSocket] = []
    attempted = registered = most = 0
    while target.goes_on:
        if len(held) < target.count:
            attempted += 1
            connection = upgrade(target)
            if connection is not None:
                try:
                    connection.sendall(register(target, f"x{attempted}"))
                    registered += 1
                    held.append(connection)
                except OSError:
                    target.answers["closed"] += 1
        else:
            time.sleep(0.05)
        most = max(most, len(held))
        readable, _, _ = select.select(held, [], [], 0) if held else ([], [], [])
        for connection in readable:
            connection.settimeout(0.5)
            try:
                data = connection.recv(65536)
            except OSError:
                data = b""
            if not data or b"\x88" in data:
                target.answers[close_code(data)] += 1
                held.remove(connection)
                connection.close()
    for connection in held:
        connection.close()
    return {"attempted": attempted, "registered": registered, "mostHeld": most}


def frames(target: Target) -> Result:
    """WebSockets that flood: pings, messages, messages that never end, frames that are too large, no text, no sense."""
    send = frame(1, json.dumps({"cmd": "send", "to": target.room, "msg": "a.b.c"}).encode())
    forms: dict[str, Callable[[], bytes]] = {
        "pings": lambda: frame(9, b"x" * 100) * 100,
        "messages": lambda: send * 100,
        "sends-to-others": lambda: b"".join(
            frame(1, json.dumps({"cmd": "send", "to": f"other{n}", "msg": "a" * 8000}).encode()) for n in range(20)),
        "unending": lambda: frame(0, b"x" * 4096, final=False) * 10,
        "oversized": lambda: frame(1, b"x", announced=1 << 40),
        "binary": lambda: frame(2, b"x" * 1000),
        "nonsense": lambda: frame(1, b'{"cmd":"admin","do":"everything"}'),
        "broken-text": lambda: frame(1, b"\xff\xfe"),
    }  # fmt: skip
    by_form: dict[str, list[str]] = {name: [] for name in forms}
    attempted = 0
    while target.goes_on and attempted < target.count:
        for name, make in forms.items():
            # Each form once at least.
            connection = upgrade(target) if target.goes_on or not by_form[name] else None
            if connection is None:
                continue
            attempted += 1
            connection.settimeout(2)
            data = b""
            try:
                connection.sendall(register(target, f"x{attempted}"))
                connection.sendall(frame(1, b"x", final=False) if name == "unending" else b"")
                for _ in range(200):
                    connection.sendall(make())
                    # Read now and then, or the close frame is lost behind what the kernel throws away.
                    if select.select([connection], [], [], 0)[0]:
                        data += connection.recv(1 << 20)
                    if b"\x88" in data[-200:]:
                        break
            except OSError:
                pass
            # A frame's head and its payload come one after the other.
            if close_code(data) == "closed":
                data += read_rest(connection, 1)
            code = close_code(data)
            target.answers[code] += 1
            if code not in by_form[name]:
                by_form[name].append(code)
            connection.close()
    return {"attempted": attempted, "byForm": by_form}


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def pairing(target: Target) -> Result:
    """Guesses at a code or a link, whether a window is open or not, each on the connection before while that lasts."""
    # The generator of P-256: as good a share as any for who does not know the code.
    share = bytes.fromhex(
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")  # fmt: skip
    attempted = guesses = 0
    connection: ssl.SSLSocket | None = None
    salt = base64url(bytes(16))
    while target.goes_on and attempted < target.count:
        attempted += 1
        if connection is None:
            connection = target.tls()
            if connection is None:
                continue
        messages = [
            {"step": "begin"}, {"step": "share", "salt": salt, "share": base64url(share)},
            {"step": "link", "id": base64url(os.urandom(16)), "publicKey": base64url(os.urandom(91)), "nonce": base64url(bytes(16))},
            {"step": "finish", "session": base64url(os.urandom(16)), "confirmation": base64url(bytes(32)), "sealed": base64url(bytes(64))},
            {"everything": True},
        ]  # fmt: skip
        message = messages[attempted % len(messages)]
        body = json.dumps(message).encode()
        try:
            connection.settimeout(3)
            connection.sendall(
                b"POST /pair HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                + body)  # fmt: skip
            answer = read_response(connection)
        except OSError:
            answer = b""
        status = next(statuses(answer), "closed")
        target.answers[status] += 1
        if status == "200":
            told = json.loads(answer.split(b"\r\n\r\n", 1)[1])
            salt = told.get("salt", salt)
            guesses += message.get("step") == "share"
        if not answer or b"connection: close" in answer.lower():
            connection.close()
            connection = None
    return {"attempted": attempted, "guesses": guesses}


def udp(target: Target) -> Result:
    """STUN requests for nobody, and what looks like DTLS, SRTP or nothing, to the media port, as fast as it goes."""
    stun = lambda attributes: struct.pack("!HHI", 1, len(attributes), 0x2112A442) + os.urandom(12) + attributes  # noqa: E731
    username = b"nobody00:stranger"
    padded = username + bytes(-len(username) % 4)
    check = struct.pack("!HH", 6, len(username)) + padded + struct.pack("!HHI", 0x24, 4, 1) + struct.pack("!HH", 8, 20) + bytes(20)
    datagrams = [
        stun(b""), stun(check), stun(check), b"\x16\xfe\xfd" + os.urandom(300), b"\x80\x60" + os.urandom(1100),
        os.urandom(1200), b"", b"\x00\x01\xff\xff", b"\x17\xfe\xfd" + os.urandom(60),
    ]  # fmt: skip
    family = socket.AF_INET6 if ":" in target.host else socket.AF_INET
    sockets = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(16)]
    for one in sockets:
        one.bind((target.source, 0))
        one.setblocking(False)
    sent = sent_bytes = received = received_bytes = 0
    while target.goes_on:
        one = sockets[sent % len(sockets)]
        for datagram in datagrams:
            try:
                sent_bytes += one.sendto(datagram, (target.host, target.media_port))
                sent += 1
            except OSError:
                pass
        if target.count and sent / (time.monotonic() - target.deadline + target.seconds) > target.count:
            time.sleep(0.002)
        try:
            while True:
                received_bytes += len(one.recv(2048))
                received += 1
        except OSError:
            pass
    return {"attempted": sent, "sentBytes": sent_bytes, "received": received, "receivedBytes": received_bytes}


def candidates(target: Target) -> Result:
    """An offer with a token that names so many ports of this machine, half at once and the other half one by one."""
    ports: list[socket.socket] = []
    for _ in range(target.count):
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind(("127.0.0.1", 0))
        one.setblocking(False)
        ports.append(one)
    lines = [
        f"candidate:{number} 1 udp {2130706431 - number} 127.0.0.1 {one.getsockname()[1]} typ host"
        for number, one in enumerate(ports)]  # fmt: skip
    sdp = (Path(__file__).parent.parent.parent / "Fixtures/offer-aiortc.sdp").read_bytes().decode()
    kept = [line for line in sdp.split("\r\n") if not line.startswith(("a=candidate:", "a=end-of-candidates"))]
    at = next(number for number, line in enumerate(kept) if line == "a=mid:0")
    half = len(lines) // 2
    sdp = "\r\n".join(kept[: at + 1] + [f"a={line}" for line in lines[:half]] + kept[at + 1 :])
    fragment = f"{next(line for line in kept if line.startswith('a=ice-ufrag:'))}\r\n{next(line for line in kept if line.startswith('a=ice-pwd:'))}\r\n"
    fragment += "m=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n" + "".join(f"a={line}\r\n" for line in lines[half:])

    def ask(method: str, path: str, kind: str, body: str, more: str = "") -> bytes:
        connection = target.tls()
        if connection is None:
            return b""
        connection.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {target.token}\r\nContent-Type: {kind}\r\n{more}"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode())  # fmt: skip
        answer = read_response(connection)
        connection.close()
        target.answers[next(statuses(answer), "closed")] += 1
        return answer

    answer = ask("POST", "/whep", "application/sdp", sdp)
    # Relative to /whep.
    location = re.search(rb"(?i)\r\nlocation: ([^\r]*)", answer)
    etag = re.search(rb"(?i)\r\netag: ([^\r]*)", answer)
    if location:
        ask("PATCH", urljoin("/whep", location[1].decode()), "application/trickle-ice-sdpfrag", fragment, f"If-Match: {etag[1].decode()}\r\n" if etag else "")
    asked: set[int] = set()
    received = 0
    while target.goes_on:
        for one in select.select(ports, [], [], 0.1)[0]:
            one.recv(2048)
            received += 1
            asked.add(one.getsockname()[1])
    return {"attempted": len(lines), "received": received, "asked": len(asked)}


ATTACKS: dict[str, Callable[[Target], Result]] = {
    "none": none, "idle": idle, "slow": slow, "requests": requests, "large": large, "handshakes": handshakes, "places": places,
    "frames": frames, "pairing": pairing, "udp": udp, "deaf": deaf, "holder": holder, "candidates": candidates,
}  # fmt: skip
#: How much of it: connections, requests, or datagrams a second, by attack.
COUNTS = {"idle": 5000, "slow": 150, "requests": 50_000, "places": 200, "deaf": 40, "holder": 300}


def raise_descriptor_limit(wanted: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        sys.exit(f"attacker.py: {wanted} file descriptors are needed, {hard} is the hard limit (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main(attacks: dict[str, Callable[[Target], Result]] = ATTACKS, counts: dict[str, int] = COUNTS) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attack", choices=attacks)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--media-port", type=int, default=0)
    parser.add_argument("--source", default="127.0.0.2", help="the attacker's own address")
    parser.add_argument("--sources", type=int, default=1, help="how many addresses, from the first on")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--room", default="0" * 16, help="the child's id")
    parser.add_argument("--parent", default="0" * 16, help="the paired parent's id")
    parser.add_argument("--key", default="", help="a paired guest's identity.pem")
    parser.add_argument("--enough", metavar="ANSWER:COUNT", default=":0", help="goes on until there are so many of this answer")
    parser.add_argument("--token", default="", help="a valid token of the attacker's")
    options = parser.parse_args()
    if options.count is None:
        options.count = counts.get(options.attack, 0 if options.attack == "udp" else 1_000_000)
    raise_descriptor_limit(max(1024, (options.count if options.attack in ("idle", "half") else 0) + 256))
    target = Target(options)

    def end(*_: Any) -> None:
        target.deadline = min(target.deadline, time.monotonic())

    signal.signal(signal.SIGTERM, end)
    # Whoever starts us may have blocked it for a thread of its own.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    began = time.monotonic()
    result = attacks[options.attack](target)
    print(json.dumps(
        {"attack": options.attack, **result, "answers": dict(target.answers), "seconds": round(time.monotonic() - began, 1)}))


if __name__ == "__main__":
    main()
