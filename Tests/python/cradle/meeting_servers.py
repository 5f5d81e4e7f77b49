"""Servers that others wrote and our own, on the public machine of `internet.Internet`, with the configurations that we ship.

Names, paths and addresses are put in place of those of the samples; a sample that lacks one of them is an error.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from .internet import MEETING, SERVER, SERVER6, Internet

SECRET = "shared-with-the-test"
SAMPLES = Path(__file__).resolve().parents[3] / "config"
#: What the certificate is for, beside both addresses.
MEET, TURN, XMPP = "meet.example.org", "turn.example.org", "xmpp.example.org"


class Failed(Exception):
    """What did not happen."""


def make_certificates(folder: Path) -> None:
    """Of an authority of the test's own, for the server's names and addresses."""
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=Test authority")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", f"/CN={MEET}")
    names = [f"IP:{SERVER}", f"IP:{MEETING}", *(f"DNS:{name}" for name in (MEET, TURN, XMPP))]
    (folder / "san").write_text(f"subjectAltName={','.join(names)}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "2",
            "-extfile", "san", "-out", "server.pem")  # fmt: skip
    (folder / "both.pem").write_text((folder / "server.pem").read_text() + (folder / "server.key").read_text())


def adapted(sample: str, changes: dict[str, str]) -> str:
    """A shipped configuration with other values in some places."""
    text = (SAMPLES / sample).read_text()
    for before, after in changes.items():
        if before not in text:
            raise Failed(f"{sample} does not have {before.strip()}")
        text = text.replace(before, after)
    return text


class Server:
    """A program on the public machine. It has started once `is_ready`."""

    def __init__(self, world: Internet, log: Path, command: list[str], is_ready: Callable[[], bool]):
        self.world, self.log, self.command, self.is_ready = world, log, command, is_ready
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.world.server, *self.command], stdout=self.log.open("ab"), stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 20
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"{self.command[0]} does not start: {self.log.read_text('utf-8', 'replace')[-800:]}")
            time.sleep(0.1)

    def close(self) -> None:
        """Killed: nobody is told."""
        self.process.kill()
        self.process.wait(5)

    def listens(self, port: int) -> bool:
        done = subprocess.run(
            ["ip", "netns", "exec", self.world.server, "ss", "-Htln", f"sport = :{port}"], capture_output=True, text=True)
        return bool(done.stdout.strip())


class Coturn(Server):
    """With the configuration that docs/OPERATORS.md recommends."""

    def __init__(self, world: Internet, folder: Path, is_behind_proxy: bool = False, tls_port: int = 443):
        make_certificates(folder)
        text = adapted("turnserver.conf", {
            "REPLACE-ME": SECRET, "/etc/coturn/fullchain.pem": str(folder / "server.pem"),
            "/etc/coturn/privkey.pem": str(folder / "server.key"), "\nsyslog\n": "\n",
            **({f"#relay-ip={SERVER}": f"relay-ip={SERVER}"} if is_behind_proxy else {"\ntls-listening-port=5349": f"\ntls-listening-port={tls_port}"}),
        })  # fmt: skip
        configuration, log = folder / "turnserver.conf", folder / "turnserver.log"
        log.write_bytes(b"")
        # Else it would listen at 443 of both addresses.
        place = "" if is_behind_proxy else "".join(f"listening-ip={ip}\nrelay-ip={ip}\n" for ip in (SERVER, SERVER6))
        configuration.write_text(f"{text}\n{place}pidfile={folder}/turnserver.pid\nlog-file=stdout\n")
        super().__init__(world, log, ["turnserver", "-c", str(configuration)],
                         lambda: b"Total General servers" in log.read_bytes())  # fmt: skip


class HAProxy(Server):
    """Room and TURN on one port 443."""

    def __init__(self, world: Internet, folder: Path):
        configuration = SAMPLES / "haproxy/haproxy.cfg"
        super().__init__(world, folder / "haproxy.log", ["haproxy", "-db", "-f", str(configuration)], lambda: self.listens(443))


class Rendezvous(Server):
    """At port 443, or behind HAProxy with a certificate, as phones need it. It lends what coturn has."""

    #: How the parent names it.
    name = MEETING

    def __init__(
        self, program: str, world: Internet, folder: Path, servers: str, is_behind_proxy: bool = False, is_everywhere: bool = False
    ):
        """is_everywhere: at every address, also IPv6, by its name."""
        configuration, state = folder / "rendezvous.yaml", folder / "meeting"
        key = folder / "server.key"
        key.chmod(0o640)
        place = (
            f"names: [{MEET}]\nlisten: '127.0.0.1:8444'\nproxies: ['127.0.0.1']\n"
            f"tls: {{certificate: {folder / 'server.pem'}, key: {key}}}\n"
            if is_behind_proxy else f"names: [{MEET}]\nlisten: '[::]:443'\n"
            if is_everywhere else f"names: [{MEETING}]\nlisten: {MEETING}:443\n")  # fmt: skip
        configuration.write_text(f"{place}ice-servers: {servers}\nlend-after: 0s\n")
        self.host = MEET if is_everywhere else MEETING
        self.status = [program, "status", "--json", "--runtime-directory", str(folder / "meeting-run")]
        command = [program, "run", "--config", str(configuration), "--state-directory", str(state), *self.status[3:]]
        super().__init__(world, folder / "rendezvous.log", command, self.answers)

    def answers(self) -> bool:
        done = subprocess.run(self.status, capture_output=True, text=True)
        if done.returncode == 0:
            key = json.loads(done.stdout).get("keySHA256")
            #: For the child's configuration.
            self.meeting = f"{{rendezvous: 'wss://{self.host}', key-sha256: {key}}}" if key else f"{{rendezvous: 'wss://{MEET}'}}"
        return done.returncode == 0


class Broker(Server):
    """mosquitto, with TLS, two accounts and the list of who may do what."""

    name = SERVER

    def __init__(self, world: Internet, folder: Path):
        passwords = folder / "passwords"
        for create, account in ((["-c"], "child"), ([], "parents")):
            subprocess.run(["mosquitto_passwd", "-b", *create, str(passwords), account, f"secret of {account}"], check=True)
        text = adapted("mosquitto/cradle.conf", {
            "listener 8883": f"listener 8883 {SERVER}", "/etc/mosquitto/certs/fullchain.pem": str(folder / "server.pem"),
            "/etc/mosquitto/certs/privkey.pem": str(folder / "server.key"), "/etc/mosquitto/cradle.passwords": str(passwords),
            "acl_file /etc/mosquitto/cradle.acl": f"acl_file {SAMPLES / 'mosquitto/cradle.acl'}",
        })  # fmt: skip
        configuration = folder / "mosquitto.conf"
        # Root would become another user, who cannot read the folder.
        configuration.write_text(f"{text}\nuser root\n")
        self.meeting = (
            f"{{mqtt: 'mqtts://{SERVER}', username: child, password: secret of child, ca: {folder / 'authority.pem'}, "
            "parents: {username: parents, password: secret of parents}}")  # fmt: skip
        super().__init__(world, folder / "mosquitto.log", ["mosquitto", "-v", "-c", str(configuration)], lambda: self.listens(8883))


class XMPPServer(Server):
    """prosody, with TLS and two accounts, beside the modules that Debian's configuration has."""

    name = XMPP

    def __init__(self, world: Internet, folder: Path):
        site, configuration = folder / "prosody-site.cfg.lua", folder / "prosody.cfg.lua"
        site.write_text(adapted("prosody/cradle.cfg.lua", {
            "/etc/prosody/certs/cradle-fullchain.pem": str(folder / "server.pem"),
            "/etc/prosody/certs/cradle-privkey.pem": str(folder / "server.key"),
        }))  # fmt: skip
        modules = ("disco roster saslauth tls blocklist bookmarks carbons dialback limits pep private smacks vcard4 vcard_legacy "
                   "csi_simple invites invites_adhoc invites_register ping register time uptime version admin_adhoc posix")  # fmt: skip
        names = "; ".join(f'"{module}"' for module in modules.split())
        configuration.write_text(
            f'run_as_root = true\npidfile = "{folder}/prosody.pid"\ndata_path = "{folder}/prosody"\n'
            f'modules_enabled = {{ {names} }}\nlimits = {{ c2s = {{ rate = "10kb/s" }} }}\n'
            f'c2s_interfaces = {{ "{SERVER}" }}\nlog = {{ info = "*console" }}\nauthentication = "internal_hashed"\n'
            f'VirtualHost "localhost"\nInclude "{site}"\n')  # fmt: skip
        for account in ("child", "parents"):
            done = subprocess.run(
                ["prosodyctl", "--root", "--config", str(configuration), "register", account, XMPP, f"secret of {account}"],
                capture_output=True, text=True)  # fmt: skip
            if done.returncode != 0:
                raise Failed(f"prosodyctl register: {done.stdout}{done.stderr}")
        self.meeting = (
            f"{{xmpp: child@{XMPP}, host: {SERVER}, password: secret of child, ca: {folder / 'authority.pem'}, "
            f"parents: {{username: parents@{XMPP}, password: secret of parents}}}}")  # fmt: skip
        super().__init__(world, folder / "prosody.log", ["prosody", "-F", "--config", str(configuration)], lambda: self.listens(5222))


#: What may stand in `away.meetings`.
Place = Rendezvous | Broker | XMPPServer


def trusting(authority: Path) -> dict[str, str]:
    """The environment of a parent that trusts this authority alone."""
    return {**os.environ, "SSL_CERT_FILE": str(authority)}
