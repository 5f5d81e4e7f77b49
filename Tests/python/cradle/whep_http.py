"""The HTTP half of a small WHEP server, for peers that we compare with or that our viewers are tried against.

Standard library only. The media half is a function that takes an offer and returns an answer and a way to end it.
"""

from __future__ import annotations

import json
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import urllib.parse
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable


@dataclass
class Started:
    """A viewer that was let in."""

    answer: str
    end: Callable[[], None]


#: Called on a thread of its own for each POST.
Start = Callable[[str], Started]


class WhepServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int, start: Start, stats: Callable[[], dict[str, Any]], token: str = ""):
        # A program that was started from a thread may have been given that thread's mask.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGINT})
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.start_viewer = start
        self.stats = stats
        self.token = token
        self.viewers: dict[str, Callable[[], None]] = {}
        self.lock = threading.Lock()
        self.counter = 0
        super().__init__((host, port), WhepHandler)

    def use_tls(self) -> None:
        """Serves HTTPS with a certificate made for the occasion."""
        with tempfile.TemporaryDirectory() as directory:
            key, certificate = f"{directory}/key.pem", f"{directory}/certificate.pem"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
                + ["-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
                check=True,
                capture_output=True,
            )
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def run_in_background(self) -> None:
        threading.Thread(target=self.serve_forever, daemon=True).start()


class WhepHandler(BaseHTTPRequestHandler):
    server: WhepServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def respond(self, status: int, body: str = "", kind: str = "text/plain", **headers: str) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Expose-Headers", "Location, ETag")
        if data:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def body(self) -> str:
        return self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()

    def authorized(self) -> bool:
        return not self.server.token or self.headers.get("Authorization") == f"Bearer {self.server.token}"

    def do_GET(self) -> None:
        if self.path == "/stats":
            self.respond(200, json.dumps(self.server.stats()), "application/json")
        elif self.path == "/healthz":
            self.respond(200, "ok\n")
        else:
            self.respond(404)

    def do_OPTIONS(self) -> None:
        self.respond(
            204,
            Access_Control_Allow_Methods="POST, PATCH, DELETE, OPTIONS",
            Access_Control_Allow_Headers="Authorization, Content-Type, If-Match",
        )

    def do_POST(self) -> None:
        offer = self.body()
        if urllib.parse.urlsplit(self.path).path != "/whep":
            return self.respond(404)
        if not self.authorized():
            return self.respond(401, WWW_Authenticate="Bearer")
        try:
            started = self.server.start_viewer(offer)
        except Exception as error:  # the peer's own word on why is what a test wants to read
            return self.respond(400, f"{type(error).__name__}: {error}")
        with self.server.lock:
            self.server.counter += 1
            name = str(self.server.counter)
            self.server.viewers[name] = started.end
        self.respond(201, started.answer, "application/sdp", Location=f"/whep/{name}", ETag=f'"{name}"')

    def do_PATCH(self) -> None:
        # Every answer is complete and the viewers' addresses show in their checks, so late candidates add nothing.
        self.body()
        self.respond(204)

    def do_DELETE(self) -> None:
        with self.server.lock:
            end = self.server.viewers.pop(self.path.rsplit("/", 1)[-1], None)
        if end is None:
            return self.respond(404)
        end()
        self.respond(200)
