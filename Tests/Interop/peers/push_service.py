"""A push service to try the child against: takes what is posted to it over HTTPS, decrypts it as a browser would, and checks
who sent it. RFC 8030, 8188, 8291, 8292, over the Python package cryptography, which shares no code with the child.
"""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


class Receiver:
    """What a browser keeps of its subscription."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.secret = b"sixteen secrets!"

    def decrypt(self, body: bytes) -> bytes:
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, ciphertext = body[21 : 21 + length], body[21 + length :]
        if length != 65 or len(ciphertext) > size or len(body) > 4096:
            raise ValueError(f"key of {length} bytes, {len(ciphertext)} of {size}")
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        secret = derived(shared, self.secret, b"WebPush: info\0" + self.point + sender, 32)
        key = derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derived(secret, salt, b"Content-Encoding: nonce\0", 12)
        content, delimiter, _ = AESGCM(key).decrypt(nonce, ciphertext, None).rstrip(b"\0").rpartition(b"\2")
        if delimiter != b"\2":
            raise ValueError("no last record")
        return content


def check_sender(value: str, origin: str) -> tuple[str, dict[str, Any]]:
    """The sender's public key and claims; raises ValueError if the signature is not by that key, or for others."""
    scheme, _, rest = value.partition(" ")
    parameters = dict(part.strip().split("=", 1) for part in rest.split(","))
    signed, _, signature = parameters["t"].rpartition(".")
    header, claims = (json.loads(decoded(part)) for part in signed.split("."))
    raw = decoded(signature)
    der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(parameters["k"]))
    try:
        key.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise ValueError("the signature is wrong") from None
    if scheme != "vapid" or header != {"typ": "JWT", "alg": "ES256"} or len(raw) != 64:
        raise ValueError(f"{scheme} {header}, a signature of {len(raw)} bytes")
    if claims["aud"] != origin or not time.time() < claims["exp"] <= time.time() + 86400:
        raise ValueError(f"claims {claims}")
    return parameters["k"], claims


class PushService:
    """Runs until the program ends. `answers`: status and headers of the next ones, then 201; `body` among the headers is what is said."""

    def __init__(self, certificate: str, key: str):
        self.receiver = Receiver()
        self.messages: list[dict[str, Any]] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers = service.take(self.path, dict(self.headers.items()), body)
                said = headers.get("body", "").encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(said))}.items():
                    if name != "body":
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self.origin = f"https://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def take(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str]]:
        status, answer = self.answers.pop(0) if self.answers else (201, {})
        message: dict[str, Any] = {"path": path, "headers": headers, "status": status, "size": len(body), "at": time.monotonic()}
        try:
            message["key"], message["claims"] = check_sender(headers["Authorization"], self.origin)
            message["content"] = json.loads(self.receiver.decrypt(body))
        except Exception as problem:  # Whatever it is, the test is told.
            message["problem"] = f"{type(problem).__name__}: {problem}"
        self.messages.append(message)
        return status, answer
