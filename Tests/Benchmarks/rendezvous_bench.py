"""What a `cradle-rendezvous` costs: memory for each child, and how many meetings it makes in a minute.

    rendezvous_bench.py --rendezvous PROGRAM [--children 10000] [--meetings 1000]

Every child is a TLS connection that has proven its key, as a real one does. Then parents come one after the other: each registers, leaves an
offer-sized message, is vouched for, gets an answer-sized one, and goes. Prints one JSON object. Everything stays on loopback, where
addresses from 127.1.0.1 on stand for so many homes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

import websockets

from cradle.identity import Identity, base64url

NAME = "127.0.0.1"
OFFER = "o" * 4000


class Bench:
    def __init__(self, program: str, folder: Path):
        self.program = program
        (folder / "rendezvous.yaml").write_text(
            f"names: ['{NAME}']\nlisten: {NAME}:0\nmaximum-children: 100000\n")
        self.log = folder / "log"
        self.process = subprocess.Popen(
            [program, "run", "--config", str(folder / "rendezvous.yaml"), "--state-directory", str(folder / "state"),
             "--runtime-directory", str(folder / "run")], stdout=subprocess.DEVNULL, stderr=self.log.open("wb"))  # fmt: skip
        while b"ready" not in self.log.read_bytes():
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        self.port = int(self.log.read_text().split("port=")[1].split()[0])
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        #: The children that are there.
        self.homes: list[tuple[Identity, websockets.ClientConnection]] = []

    def kilobytes(self) -> int:
        """Resident, without what is shared with files."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("RssAnon:")[1].split()[0])

    def processor_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    async def connect(self, number: int) -> websockets.ClientConnection:
        home = f"127.1.{number // 200 % 200}.{1 + number % 200}"
        while True:
            try:
                return await websockets.connect(
                    f"wss://{NAME}:{self.port}/signal", ssl=self.tls, local_addr=(home, 0), ping_interval=None,
                    compression=None, open_timeout=60)  # fmt: skip
            except ConnectionResetError:
                # The server takes a hundred handshakes a second from strangers; a child would come back, too.
                await asyncio.sleep(0.2)

    async def child(self, key: Identity, number: int) -> None:
        socket = await self.connect(number)
        await socket.send(json.dumps({"cmd": "register", "roomid": key.id, "clientid": key.id}))
        challenge = json.loads(await socket.recv())["registered"]["challenge"]
        proof = key.signed({"type": "host", "from": key.id, "server": NAME, "challenge": challenge,
                            "key": base64url(key.public)})  # fmt: skip
        presence = key.signed({"type": "presence", "from": key.id, "challenge": "A" * 21 + "A", "expires": 4102444800})
        await socket.send(json.dumps({"cmd": "prove", "proof": proof, "presence": presence}))
        assert "proved" in json.loads(await socket.recv())
        self.homes.append((key, socket))

    async def meet(self, key: Identity, host: websockets.ClientConnection, number: int) -> None:
        socket = await self.connect(number)
        await socket.send(json.dumps({"cmd": "register", "roomid": key.id, "clientid": f"parent-{number}"}))
        assert json.loads(await socket.recv())["registered"]["present"]
        await socket.send(json.dumps({"cmd": "send", "to": key.id, "msg": OFFER}))
        client = json.loads(await host.recv())["from"]
        await host.send(json.dumps({"cmd": "vouch", "client": client}))
        await host.send(json.dumps({"cmd": "send", "to": client, "msg": OFFER}))
        assert "vouched" in json.loads(await socket.recv())
        assert json.loads(await socket.recv())["msg"] == OFFER
        await socket.close()

    async def run(self, children: int, meetings: int) -> dict[str, object]:
        keys = [Identity() for _ in range(children)]
        before = self.kilobytes()
        began = time.monotonic()
        gate = asyncio.Semaphore(12)

        async def one(number: int) -> None:
            async with gate:
                await self.child(keys[number], number)

        await asyncio.gather(*(one(number) for number in range(children)))
        took = time.monotonic() - began
        await asyncio.sleep(2)
        memory = self.kilobytes() - before
        status = json.loads(subprocess.run(
            [self.program, "status", "--json", "--runtime-directory", str(self.log.parent / "run")],
            capture_output=True, text=True, check=True).stdout)  # fmt: skip
        assert status["children"] == children, status
        processor, began = self.processor_seconds(), time.monotonic()
        for number in range(meetings):
            # At one home after the other: a room takes no more messages than a family needs.
            key, host = self.homes[number % children]
            await self.meet(key, host, children + 1 + number)
        wall = time.monotonic() - began
        used = self.processor_seconds() - processor
        return {
            "children": children, "secondsUntilAllWereThere": round(took, 1), "kilobytesAChild": round(memory / children, 1),
            "meetings": meetings, "meetingsAMinute": round(60 * meetings / wall),
            "processorMillisecondsAMeeting": round(1000 * used / meetings, 2),
            "meetingsAMinuteOnOneCore": round(60 * meetings / used) if used else None,
        }  # fmt: skip

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rendezvous", required=True)
    parser.add_argument("--children", type=int, default=10000)
    parser.add_argument("--meetings", type=int, default=1000)
    options = parser.parse_args()
    # For each of both programs: the server takes over ours.
    wanted = options.children + 1200
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < wanted:
        parser.error(f"{wanted} file descriptors are needed, {hard} is the hard limit (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    with tempfile.TemporaryDirectory(prefix="cradle-bench-") as folder:
        bench = Bench(options.rendezvous, Path(folder))
        try:
            print(json.dumps(asyncio.run(bench.run(options.children, options.meetings)), indent=1))
        finally:
            bench.close()


if __name__ == "__main__":
    main()
