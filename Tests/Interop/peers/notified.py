#!/usr/bin/env python3
"""A server that notifiers are tried against. Prints its port, then each request as one JSON line.

The path decides what it does: /ok, /STATUS (such as /401), /flaky (500, then 200), /later (429 with Retry-After: 2, then
200), /hang, /drop (ends the connection), /here (307 to /ok), /moved (301 to /ok), /elsewhere (307 to --elsewhere).
"""

import argparse
import base64
import email
import json
import signal
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# A program that was started from a thread may have been given that thread's mask.
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGINT})
arguments = argparse.ArgumentParser()
arguments.add_argument("--port", type=int, default=0)
arguments.add_argument("--certificate")
arguments.add_argument("--key")
arguments.add_argument("--elsewhere", default="")
options = arguments.parse_args()
seen = {}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def take(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind = self.headers.get_content_type()
        fields, picture = None, raw if kind == "image/jpeg" else None
        if kind == "multipart/form-data":
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            parts = email.message_from_bytes(head + raw).get_payload()
            name = lambda part: part.get_param("name", header="content-disposition")
            fields = {name(part): part.get_payload() for part in parts if not part.get_filename()}
            picture = next((part.get_payload(decode=True) for part in parts if part.get_filename()), None)
        body = "" if picture else raw.decode()
        with lock:
            count = seen[self.path] = seen.get(self.path, 0) + 1
            headers = {name.lower(): value for name, value in self.headers.items()}
            print(json.dumps({"method": self.command, "path": self.path, "headers": headers, "body": body,
                              "fields": fields, "picture": base64.b64encode(picture).decode() if picture else None}), flush=True)
        if self.path == "/hang":
            time.sleep(60)
        elif self.path == "/drop":
            self.close_connection = True
        elif self.path == "/here":
            self.answer(307, {"Location": "/ok"})
        elif self.path == "/moved":
            self.answer(301, {"Location": "/ok"})
        elif self.path == "/elsewhere":
            self.answer(307, {"Location": options.elsewhere})
        elif self.path == "/later" and count == 1:
            self.answer(429, {"Retry-After": "2"})
        elif self.path == "/flaky" and count == 1:
            self.answer(500)
        elif self.path[1:].isdigit():
            self.answer(int(self.path[1:]))
        else:
            self.answer(200)

    do_POST = do_PUT = do_GET = take

    def answer(self, status, headers={}):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
server.daemon_threads = True
if options.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_port, flush=True)
server.serve_forever()
