"""Meeting places for tests: a real `cradle-rendezvous` on loopback, and one that lies. Both are `wss://localhost:PORT`, with a
certificate of an authority of the test's own.

Needs cryptography and websockets (PyPI).
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import pathlib
import ssl
import subprocess
import threading
import time
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from websockets.sync.client import connect
from websockets.sync.server import serve

from cradle import processes
from cradle.identity import base64url


class Authority:
    """`authority.pem`, which somebody has to trust, and `cert.pem` with `key.pem` for localhost."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(processes.temporary_directory("authority"))
        key, leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        root = self.certificate("Test authority", key, key, "Test authority", x509.BasicConstraints(True, 0))
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        own = self.certificate("localhost", leaf, key, "Test authority", names)
        self.write("authority.pem", root.public_bytes(Encoding.PEM))
        self.write("cert.pem", own.public_bytes(Encoding.PEM))
        self.write("key.pem", leaf.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    @staticmethod
    def certificate(name: str, key: Any, issuer_key: Any, issuer: str, extension: Any) -> x509.Certificate:
        now = datetime.datetime.now(datetime.timezone.utc)
        named = lambda text: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])  # noqa: E731
        builder = x509.CertificateBuilder().subject_name(named(name)).issuer_name(named(issuer)).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=2)).add_extension(extension, critical=True)
        return builder.sign(issuer_key, hashes.SHA256())

    def write(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_bytes(data)

    def path(self, name: str) -> str:
        return str(self.folder / name)


class Rendezvous:
    """`cradle-rendezvous run`."""

    def __init__(self, program: str, authority: Authority, more: str = "", host: str = "127.0.0.1", port: int = 0, prefix: tuple[str, ...] = ()):
        self.program, self.prefix = program, prefix
        self.port = port or processes.reserved_port()
        self.name = "localhost" if host == "127.0.0.1" else host
        self.folder = processes.temporary_directory("rendezvous")
        pathlib.Path(self.folder, "rendezvous.yaml").write_text(
            f"names: ['{self.name}']\nlisten: {host}:{self.port}\n"
            f"tls: {{certificate: {authority.path('cert.pem')}, key: {authority.path('key.pem')}}}\n{more}"
        )
        self.start()

    def start(self) -> None:
        with open(f"{self.folder}/log", "ab") as log:
            self.process = processes.start_process(
                [
                    *self.prefix, self.program, "run", "--config", f"{self.folder}/rendezvous.yaml", "--state-directory", f"{self.folder}/state",
                    "--runtime-directory", f"{self.folder}/run",
                ], stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
        deadline = time.monotonic() + 30
        while "ready" not in self.log():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise OSError(f"cradle-rendezvous does not listen: {self.log()[-1000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        processes.end_process(self.process)

    def log(self) -> str:
        return pathlib.Path(self.folder, "log").read_text(errors="replace")

    @property
    def url(self) -> str:
        return f"wss://{self.name}:{self.port}"


class Passage:
    """Stands before a `cradle-rendezvous`, at which the child is: what a child sends and gets passes. Of clients, `mode` says what does:
    "all"; "in": all but what the child sends them; "denied": nothing that they send, the answer to it is an error."""

    WORDS = "Pay at https://pay.example"

    def __init__(self, behind: Rendezvous, authority: Authority, mode: str, delay: float = 0):
        self.mode, self.delay, self.behind = mode, delay, behind
        self.is_child_there = threading.Event()
        #: Messages of clients.
        self.sent = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.path("cert.pem"), authority.path("key.pem"))
        self.unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.unchecked.check_hostname, self.unchecked.verify_mode = False, ssl.CERT_NONE
        self.port = processes.reserved_port()
        self.server = serve(self.talk, "127.0.0.1", self.port, ssl=context, compression=None)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def talk(self, connection: Any) -> None:
        time.sleep(self.delay)
        try:
            inner = connect(f"{self.behind.url}/signal", ssl=self.unchecked, compression=None)
        except OSError:
            return
        with inner:
            threading.Thread(target=self.answer, args=(inner, connection), daemon=True).start()
            for text in connection:
                message = json.loads(text)
                if message["cmd"] == "register":
                    connection.is_child = message["roomid"] == message["clientid"]
                if message["cmd"] == "send" and not connection.is_child:
                    self.sent += 1
                    if self.mode == "denied":
                        connection.send(json.dumps({"error": {"code": "refused", "message": self.WORDS}}))
                        continue
                inner.send(text)

    def answer(self, inner: Any, connection: Any) -> None:
        for text in inner:
            message = json.loads(text)
            if "proved" in message:
                self.is_child_there.set()
            if self.mode != "in" or connection.is_child or "from" not in message:
                connection.send(text)
        connection.close()

    @property
    def url(self) -> str:
        return f"wss://localhost:{self.port}"


class Relay:
    """A coturn on loopback that shares a secret."""

    SECRET = "a secret of the test"

    def __init__(self) -> None:
        self.port = processes.reserved_port()
        folder = processes.temporary_directory("turn")
        with open(f"{folder}/log", "wb") as log:
            self.process = processes.start_process(
                [
                    "turnserver", "-n", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", f"--listening-port={self.port}",
                    "--use-auth-secret", f"--static-auth-secret={self.SECRET}", "--realm=cradle.test", "--allow-loopback-peers", "--no-cli",
                    "--cli-password=none", "--no-tls", "--no-dtls", f"--userdb={folder}/users", f"--pidfile={folder}/pid",
                    "--log-file=stdout", "--simple-log",
                ], stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip

    @property
    def configuration(self) -> str:
        return f"ice-servers: [{{urls: ['turn:127.0.0.1:{self.port}'], secret: '{self.SECRET}'}}]\n"


class FakePlace:
    """A room server in whose rooms everybody is present, as `presence` says. Keeps what it was sent."""

    def __init__(self, port: int, authority: Authority):
        self.presence = ""
        self.received: list[dict[str, Any]] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.path("cert.pem"), authority.path("key.pem"))
        self.server = serve(self.talk, "127.0.0.1", port, ssl=context, compression=None)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def talk(self, connection: Any) -> None:
        for text in connection:
            message = json.loads(text)
            self.received.append(message)
            if message["cmd"] != "register":
                continue
            registered = {name: message[name] for name in ("roomid", "clientid")}
            registered |= {"initiator": True, "challenge": base64url(b"the place's own!"), "messages": [], "present": self.presence}
            connection.send(json.dumps({"registered": registered}))

    def stop(self) -> None:
        self.server.shutdown()
