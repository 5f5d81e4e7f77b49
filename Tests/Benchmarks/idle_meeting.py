"""What a child that nobody watches costs while it waits at a meeting place: packets of its connection, and memory.

    idle_meeting.py --child PROGRAM --rendezvous PROGRAM [--minutes 8]

Four children in a network namespace of their own, with nothing but loopback: one at a `cradle-rendezvous`, one at mosquitto, one at
prosody, each over TLS, and one without a meeting place. The kernel counts every TCP packet of the connection in each direction,
the bare acknowledgements of TCP among them, once all are there. A connection to a broker or an XMPP server has a process of its
own, whose memory is shown beside. Needs root, nftables, mosquitto, prosody and openssl. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PORTS = {"rendezvous": 7443, "mqtt": 8883, "xmpp": 5222}
#: Before counting: whatever belongs to arriving is over.
SETTLING = 45
CAMERA = "cameras:\n  - {id: cot, device: test, width: 640, height: 360, framerate: 30}\nmicrophone: {device: test}\n"


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)


def make_certificates(folder: Path) -> None:
    """Of an authority of the measurement's own, for this machine and `cradle.test`."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(folder, "req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=Measurement")
    openssl(folder, "req", *key, "-keyout", "key.pem", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:cradle.test\n")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "2",
            "-extfile", "san", "-out", "cert.pem")  # fmt: skip


class Running:
    """Programs, with a log each; all end with it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str) -> None:
        log = (self.folder / f"{name}.log").open("wb")
        self.processes[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text("utf-8", "replace")

    def wait_for(self, name: str, text: str) -> None:
        deadline = time.monotonic() + 60
        while text not in self.log(name):
            if self.processes[name].poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{name} does not say “{text}”:\n{self.log(name)[-2000:]}")
            time.sleep(0.1)

    def wait_for_port(self, name: str, port: int) -> None:
        deadline = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if self.processes[name].poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{name} does not listen:\n{self.log(name)[-2000:]}")
            time.sleep(0.1)

    def kilobytes(self, name: str) -> int:
        """Resident, without what is shared with files."""
        text = Path(f"/proc/{self.processes[name].pid}/status").read_text()
        return int(text.split("RssAnon:")[1].split()[0])

    def connection_kilobytes(self, name: str) -> dict[str, int]:
        """Of the process that serves the child's connection; its share of what it has in common with others is in `pss`."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                status = (folder / "status").read_text()
                if f"\nPPid:\t{self.processes[name].pid}\n" not in status or b"meeting-link" not in (folder / "cmdline").read_bytes():
                    continue
                lines = dict(line.split(":", 1) for line in (folder / "smaps_rollup").read_text().splitlines()[1:])
            except FileNotFoundError:
                continue
            kilobytes = {key: int(value.split()[0]) for key, value in lines.items()}
            private = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
            return {"rss": kilobytes["Rss"], "pss": kilobytes["Pss"], "private": private, "privateAnonymous": kilobytes["Anonymous"]}
        raise SystemExit(f"{name} has no connection process")

    def close(self) -> None:
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def start_places(running: Running, rendezvous: str) -> None:
    folder = running.folder
    (folder / "rendezvous.yaml").write_text(
        f"names: [localhost]\nlisten: 127.0.0.1:{PORTS['rendezvous']}\n"
        f"tls: {{certificate: {folder}/cert.pem, key: {folder}/key.pem}}\n")
    running.start("cradle-rendezvous", rendezvous, "run", "--config", f"{folder}/rendezvous.yaml", "--state-directory",
                  f"{folder}/rendezvous-state", "--runtime-directory", f"{folder}/rendezvous-run")  # fmt: skip
    (folder / "mosquitto.conf").write_text(
        f"user root\nallow_anonymous true\nlistener {PORTS['mqtt']} 127.0.0.1\ncertfile {folder}/cert.pem\nkeyfile {folder}/key.pem\n")
    running.start("mosquitto", shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin") or "mosquitto", "-c",
                  f"{folder}/mosquitto.conf")  # fmt: skip
    accounts = folder / "data/cradle%2etest/accounts"
    accounts.mkdir(parents=True)
    (accounts / "child.dat").write_text('return { ["password"] = "secret" };')
    (folder / "prosody.cfg.lua").write_text(f"""
run_as_root = true
pidfile = "{folder}/prosody.pid"
data_path = "{folder}/data"
modules_enabled = {{ "disco", "roster", "saslauth", "tls", "blocklist", "carbons", "limits", "pep", "private", "smacks",
  "csi_simple", "ping", "time", "version", "posix" }}
modules_disabled = {{ "s2s" }}
limits = {{ c2s = {{ rate = "10kb/s" }} }}
authentication = "internal_plain"
c2s_require_encryption = true
c2s_ports = {{ {PORTS["xmpp"]} }}
c2s_interfaces = {{ "127.0.0.1" }}
log = {{ info = "*console" }}
VirtualHost "cradle.test"
  ssl = {{ certificate = "{folder}/cert.pem", key = "{folder}/key.pem" }}
""")
    running.start("prosody", "prosody", "-F", "--config", f"{folder}/prosody.cfg.lua")
    for name, place in (("cradle-rendezvous", "rendezvous"), ("mosquitto", "mqtt"), ("prosody", "xmpp")):
        running.wait_for_port(name, PORTS[place])


def start_child(running: Running, program: str, name: str, meeting: str | None) -> None:
    folder = running.folder / f"child-{name}"
    folder.mkdir()
    away = f"away: {{meetings: [{meeting}]}}\n" if meeting else ""
    (folder / "child.yaml").write_text(f"name: {name}\n{CAMERA}{away}")
    running.start(f"child-{name}", program, "run", "--config", f"{folder}/child.yaml", "--listen", "127.0.0.1:0", "--state-directory",
                  f"{folder}/state", "--runtime-directory", f"{folder}/run")  # fmt: skip
    if meeting:
        running.wait_for(f"child-{name}", "at a meeting place")


def nft(text: str) -> None:
    subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)


def count_packets() -> None:
    """Loopback passes each packet through `output` once. 60 bytes: headers of IP and TCP with their options, and nothing in them."""
    rules = ["table inet idle {"]
    for name in PORTS:
        rules += [f" counter {name}_{way}_{kind} {{ }}" for way in ("up", "down") for kind in ("all", "bare")]
    rules += [" chain out {", "  type filter hook output priority 0;"]
    for name, port in PORTS.items():
        for way, side in (("up", "dport"), ("down", "sport")):
            rules += [f"  tcp {side} {port} counter name {name}_{way}_all",
                      f"  tcp {side} {port} meta length <= 60 counter name {name}_{way}_bare"]  # fmt: skip
    nft("\n".join([*rules, " }", "}"]))


def counted() -> dict[str, int]:
    found = json.loads(subprocess.run(["nft", "-j", "list", "counters"], capture_output=True, text=True, check=True).stdout)
    return {entry["counter"]["name"]: entry["counter"]["packets"] for entry in found["nftables"] if "counter" in entry}


def measure(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # The children trust what the machine does: here the measurement's authority.
    make_certificates(folder)
    os.environ["SSL_CERT_FILE"] = f"{folder}/authority.pem"
    running = Running(folder)
    try:
        start_places(running, options.rendezvous)
        start_child(running, options.child, "none", None)
        start_child(running, options.child, "rendezvous", f'{{rendezvous: "wss://localhost:{PORTS["rendezvous"]}"}}')
        start_child(running, options.child, "mqtt", f'{{mqtt: "mqtts://localhost:{PORTS["mqtt"]}", ca: {folder}/authority.pem}}')
        start_child(running, options.child, "xmpp",
                    f'{{xmpp: child@cradle.test, password: secret, host: 127.0.0.1, port: {PORTS["xmpp"]}, ca: {folder}/authority.pem}}')  # fmt: skip
        time.sleep(SETTLING)
        count_packets()
        time.sleep(60 * options.minutes)
        packets = counted()
        memory = {name: running.kilobytes(f"child-{name}") for name in ("none", *PORTS)}
        processes = {name: running.connection_kilobytes(f"child-{name}") for name in ("mqtt", "xmpp")}
    finally:
        running.close()
    return {
        "minutes": options.minutes,
        **{name: {
            "packetsAMinute": sum(packets[f"{name}_{way}_all"] for way in ("up", "down")) / options.minutes,
            **{way: {"packets": packets[f"{name}_{way}_all"], "bareAcknowledgements": packets[f"{name}_{way}_bare"]}
               for way in ("up", "down")},
            "kilobytesMore": memory[name] - memory["none"],
            **({"connectionProcessKilobytes": processes[name]} if name in processes else {}),
        } for name in PORTS},
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--rendezvous", required=True)
    parser.add_argument("--minutes", type=int, default=8)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv, "--inside"])
    with tempfile.TemporaryDirectory(prefix="cradle-idle-") as folder:
        print(json.dumps(measure(options, Path(folder)), indent=1))


if __name__ == "__main__":
    main()
