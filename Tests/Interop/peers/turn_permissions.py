"""Asks a TURN server on loopback for permissions, as no client of ours would: also for IPv4 addresses within IPv6.

    turn_permissions.py PORT USER PASSWORD ADDRESS ...

Prints a JSON object: by address, the error code of CreatePermission (RFC 8656 section 10), or 0 for yes.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import os
import socket
import struct
import sys
from collections.abc import Callable

COOKIE = 0x2112A442
ALLOCATE, CREATE_PERMISSION = 0x003, 0x008
USERNAME, MESSAGE_INTEGRITY, ERROR_CODE, XOR_PEER_ADDRESS, REALM, NONCE = 0x06, 0x08, 0x09, 0x12, 0x14, 0x15
REQUESTED_ADDRESS_FAMILY, REQUESTED_TRANSPORT = 0x17, 0x19
UDP = bytes([17, 0, 0, 0])


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


class Allocation:
    """Of relayed addresses of one family."""

    def __init__(self, port: int, user: str, password: str, version: int):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))
        self.key, self.credentials = b"", b""
        wanted = attribute(REQUESTED_TRANSPORT, UDP) + attribute(REQUESTED_ADDRESS_FAMILY, bytes([2 if version == 6 else 1, 0, 0, 0]))
        challenge = self.ask(ALLOCATE, lambda _: wanted)
        realm = challenge[REALM]
        self.credentials = attribute(USERNAME, user.encode()) + attribute(REALM, realm) + attribute(NONCE, challenge[NONCE])
        self.key = hashlib.md5(f"{user}:{realm.decode()}:{password}".encode()).digest()
        answer = self.ask(ALLOCATE, lambda _: wanted)
        if ERROR_CODE in answer:
            raise OSError(f"no allocation: {answer[ERROR_CODE]!r}")

    def ask(self, method: int, attributes: Callable[[bytes], bytes]) -> dict[int, bytes]:
        transaction = os.urandom(12)
        body = attributes(transaction) + self.credentials
        if self.key:
            signed = struct.pack("!HHI", method, len(body) + 24, COOKIE) + transaction + body
            body += attribute(MESSAGE_INTEGRITY, hmac.new(self.key, signed, "sha1").digest())
        self.socket.send(struct.pack("!HHI", method, len(body), COOKIE) + transaction + body)
        answer = self.socket.recv(2000)
        found, position = {}, 20
        while position < len(answer):
            kind, length = struct.unpack_from("!HH", answer, position)
            found[kind] = answer[position + 4 : position + 4 + length]
            position += 4 + length + (-length % 4)
        return found

    def permit(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> int:
        def peer(transaction: bytes) -> bytes:
            mask = struct.pack("!I", COOKIE) + transaction
            packed = bytes(a ^ b for a, b in zip(address.packed, mask))
            return attribute(XOR_PEER_ADDRESS, struct.pack("!BBH", 0, 2 if address.version == 6 else 1, 9 ^ (COOKIE >> 16)) + packed)

        error = self.ask(CREATE_PERMISSION, peer).get(ERROR_CODE)
        return error[2] * 100 + error[3] if error else 0


def main() -> None:
    port, user, password = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    allocations: dict[int, Allocation] = {}
    codes = {}
    for text in sys.argv[4:]:
        address = ipaddress.ip_address(text)
        if address.version not in allocations:
            allocations[address.version] = Allocation(port, user, password, address.version)
        codes[text] = allocations[address.version].permit(address)
    print(json.dumps(codes))


if __name__ == "__main__":
    main()
