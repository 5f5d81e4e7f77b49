"""A public server with coturn, and a child and its parent at the two ends of `internet.Internet`."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from internet import CHILD_PORT, MEETING, MEETING_NAME, SERVER, SERVER6, SERVER_NAME, Internet, Side

SECRET = "shared-with-the-test"


class Failed(Exception):
    """What did not happen."""


def make_certificates(folder: Path) -> None:
    """Of an authority of the test's own, for the server's address."""
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=Test authority")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", f"/CN={SERVER}")
    (folder / "san").write_text(f"subjectAltName=IP:{SERVER},IP:{MEETING},DNS:{SERVER_NAME}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "2",
            "-extfile", "san", "-out", "server.pem")  # fmt: skip


class Coturn:
    """On the public server, with the configuration that docs/AWAY.md recommends."""

    def __init__(self, world: Internet, folder: Path, tls_port: int = 443):
        make_certificates(folder)
        sample = Path(__file__).resolve().parents[2] / "config" / "turnserver.conf"
        configuration = folder / "turnserver.conf"
        text = sample.read_text()
        for before, after in (("REPLACE-ME", SECRET), ("/etc/coturn/fullchain.pem", str(folder / "server.pem")),
                              ("/etc/coturn/privkey.pem", str(folder / "server.key")), ("\nsyslog\n", "\n"),
                              ("tls-listening-port=443", f"tls-listening-port={tls_port}")):  # fmt: skip
            if before not in text:
                raise Failed(f"{sample} does not have {before.strip()}")
            text = text.replace(before, after)
        configuration.write_text(f"{text}\nlistening-ip={SERVER}\nlistening-ip={SERVER6}\nrelay-ip={SERVER}\nrelay-ip={SERVER6}\npidfile={folder}/turnserver.pid\nlog-file=stdout\n")
        self.log = folder / "turnserver.log"
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", world.server, "turnserver", "-c", str(configuration)],
            stdout=self.log.open("wb"), stderr=subprocess.STDOUT)  # fmt: skip
        deadline = time.monotonic() + 10
        while b"Total General servers" not in self.log.read_bytes():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"coturn does not start: {self.log.read_text('utf-8', 'replace')[-500:]}")
            time.sleep(0.1)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(5)


class Rendezvous:
    """On the public server, at port 443. It lends what coturn has."""

    def __init__(self, program: str, world: Internet, folder: Path, servers: str, listen: str = f"{MEETING}:443"):
        self.program, self.world, self.folder = program, world, folder
        self.configuration = folder / "rendezvous.yaml"
        self.configuration.write_text(f"names: [{MEETING}, {MEETING_NAME}]\nlisten: '{listen}'\nice-servers: {servers}\n")
        self.log = folder / "rendezvous.log"
        self.name = MEETING if listen.startswith(MEETING) else MEETING_NAME
        self.start()

    def start(self) -> None:
        runtime = ["--runtime-directory", str(self.folder / "meeting-run")]
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.world.server, self.program, "run", "--config", str(self.configuration),
             "--state-directory", str(self.folder / "meeting"), *runtime],
            stdout=subprocess.DEVNULL, stderr=self.log.open("ab"))  # fmt: skip
        deadline = time.monotonic() + 20
        while True:
            status = subprocess.run([self.program, "status", "--json", *runtime], capture_output=True, text=True)
            if status.returncode == 0:
                break
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the rendezvous does not start: {self.log.read_text('utf-8', 'replace')[-500:]}")
            time.sleep(0.1)
        self.key = json.loads(status.stdout)["keySHA256"]

    @property
    def meetings(self) -> str:
        """For the child's configuration."""
        return f"[{{rendezvous: 'wss://{self.name}', key-sha256: {self.key}}}]"

    def close(self) -> None:
        self.process.kill()
        self.process.wait(5)


class Child:
    """With a test picture and tone, on its side of the Internet."""

    def __init__(self, program: str, side: Side, folder: Path, servers: str = "[]", meetings: str = "[]", away: str = ""):
        self.program, self.side, self.folder = program, side, folder
        configuration = folder / "child.yaml"
        configuration.write_text(
            f"name: Away\nlisten: '[::]:{CHILD_PORT}'\ncameras: [{{id: cot, device: test, width: 320, height: 240}}]\n"
            f"microphone: {{device: test}}\nspeaker: {{device: \"null\"}}\nlights: []\nice-servers: {servers}\naway: {{meetings: {meetings}{away}}}\n")
        self.directories = ["--state-directory", str(folder / "state"), "--runtime-directory", str(folder / "run")]
        self.log = folder / "child.log"
        self.configuration = configuration
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*self.side.prefix(), self.program, "run", "--config", str(self.configuration), *self.directories],
            stdout=subprocess.DEVNULL, stderr=self.log.open("ab"))  # fmt: skip
        self.wait()

    def status(self) -> dict[str, Any]:
        done = subprocess.run([self.program, "status", "--json", *self.directories[2:]], capture_output=True, text=True)
        return json.loads(done.stdout or "{}")

    def wait_until_met(self) -> None:
        """Until it is at its meeting place."""
        deadline = time.monotonic() + 90
        while True:
            away = subprocess.run(
                [*self.side.prefix(), self.program, "away", "--json", "--config", str(self.configuration), *self.directories],
                capture_output=True, text=True)  # fmt: skip
            states = [meeting["state"] for meeting in json.loads(away.stdout or "{}").get("meetings", [])]
            if states and all(state == "present" for state in states):
                return
            if time.monotonic() > deadline:
                raise Failed(f"the child is not at its meeting place: {away.stdout} {away.stderr}")
            time.sleep(0.2)

    def wait(self) -> None:
        deadline = time.monotonic() + 20
        while subprocess.run([self.program, "status", *self.directories[2:]], capture_output=True).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the child does not start: {self.log.read_text('utf-8', 'replace')[-800:]}")
            time.sleep(0.1)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)


class Parent:
    def __init__(self, program: str, side: Side, folder: Path):
        self.program, self.side = program, side
        self.state = ["--state-directory", str(folder / "parent")]

    def pair_at_home(self, child: Child, address: str = f"127.0.0.1:{CHILD_PORT}") -> None:
        """In the child's network; there the child tells how it is reached from elsewhere."""
        window = subprocess.Popen(
            [child.program, "pair", "--json", *child.directories[2:]], stdout=subprocess.PIPE, text=True)
        assert window.stdout
        code = json.loads(window.stdout.readline())["code"]
        home = child.side.prefix()
        self.run(home, "pair", address, "--code", code)
        window.wait(10)
        self.run(home, "status")

    def run(self, prefix: list[str], *arguments: str) -> None:
        done = subprocess.run([*prefix, self.program, *arguments, *self.state], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise Failed(f"cradle-parent {' '.join(arguments)}: {done.stderr.strip()}")

    def watching(self, address: str, *arguments: str) -> list[str]:
        """The command."""
        length = [] if "--duration" in arguments else ["--duration", "4"]
        fixed = ["watch", address, "--no-window", "--mute", "--stats", *length]
        return [*self.side.prefix(), self.program, *fixed, *arguments, *self.state]

    def watch(self, address: str, *arguments: str, authority: Path) -> dict[str, Any]:
        """What was seen last, and what the program said.

        authority: the only one that TURN servers may have their certificates from.
        """
        done = subprocess.run(
            self.watching(address, *arguments), capture_output=True, text=True, timeout=90,
            env={**os.environ, "SSL_CERT_FILE": str(authority)})  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        seen = next((line for line in reversed(lines) if line.get("candidatePair")), lines[-1] if lines else {})
        return {"said": done.stderr[-600:], **seen}
