"""Two machines on one cable without a router: link-local addresses alone, an Avahi daemon on each. One finds the other, pairs and watches.

Prints what came of each step as one JSON object on the last line. Needs root; only the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from cradle import processes
from cradle.avahi import Avahi

CONFIGURATION = """name: Nursery
cameras:
  - {id: cot, device: test, width: 320, height: 240, framerate: 15}
microphone: {device: test}
"""


def run(*command: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **keywords)


class Machine:
    """A network namespace with one end of the cable."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.namespace = f"cradle-{name[0]}-{uuid.uuid4().hex[:6]}"
        self.prefix = ["ip", "netns", "exec", self.namespace]
        subprocess.run(["ip", "netns", "add", self.namespace], check=True)
        self.ip("link", "set", "lo", "up")

    def ip(self, *arguments: str) -> None:
        subprocess.run(["ip", "-n", self.namespace, *arguments], check=True)

    def close(self) -> None:
        run("ip", "netns", "delete", self.namespace)


def meet(options: argparse.Namespace, nursery: Machine, sofa: Machine, folder: Path) -> dict[str, Any]:
    with Avahi("nursery", nursery.prefix) as at_child, Avahi("sofa", sofa.prefix) as at_parent:
        result: dict[str, Any] = {}
        (folder / "child.yaml").write_text(CONFIGURATION)
        directories = ["--state-directory", str(folder / "state"), "--runtime-directory", str(folder / "run")]
        log = open(folder / "log", "wb")
        processes.start_process(
            [*nursery.prefix, options.child, "run", "--config", str(folder / "child.yaml"), *directories],
            env=os.environ | at_child.environment, stdout=log, stderr=log)  # fmt: skip
        for _ in range(200):
            if run(*nursery.prefix, options.child, "status", *directories).returncode == 0:
                break
            time.sleep(0.1)

        def parent(*arguments: str, patience: int = 15) -> subprocess.CompletedProcess[str]:
            return run(
                *sofa.prefix, "timeout", str(patience), options.parent, *arguments, "--state-directory", str(folder / "parent"),
                env=os.environ | at_parent.environment)  # fmt: skip

        window = subprocess.Popen(
            [*nursery.prefix, options.child, "pair", "--json", *directories], stdout=subprocess.PIPE, stderr=log, text=True)  # fmt: skip
        assert window.stdout is not None
        opened = json.loads(window.stdout.readline())
        result["link"] = opened["link"].split("#")[0]
        result["problem"] = opened.get("problem")
        doctor = run(*nursery.prefix, options.child, "doctor", "--json", "--config", str(folder / "child.yaml"), *directories)
        result["network"] = [check for check in json.loads(doctor.stdout)["checks"] if check["what"] == "network"]
        for _ in range(5):
            found = run(
                *sofa.prefix, "timeout", "2", options.parent, "discover", "--json", env=os.environ | at_parent.environment)  # fmt: skip
            if found.stdout:
                break
        result["discovered"] = [json.loads(line) for line in found.stdout.splitlines()]
        paired = parent("pair", "--code", opened["code"])
        result["pair"] = {"status": paired.returncode, "error": paired.stderr}
        window.terminate()
        if paired.returncode == 0:
            watched = parent("watch", "--stats", "--duration", "3", "--speaker", "none")
            result["watch"] = {"status": watched.returncode, "error": watched.stderr[-1000:]}
            result["figures"] = [json.loads(line) for line in watched.stdout.splitlines()][-1:]
        result["log"] = (folder / "log").read_text()[-3000:]
        return result


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--ipv6-only", action="store_true", help="fe80:: alone")
    options = parser.parse_args()
    nursery, sofa = Machine("nursery"), Machine("sofa")
    try:
        with tempfile.TemporaryDirectory(prefix="cradle-cable-") as folder:
            subprocess.run(
                ["ip", "link", "add", "cable", "netns", nursery.namespace, "type", "veth", "peer", "name", "cable", "netns",
                 sofa.namespace], check=True)  # fmt: skip
            for machine, last in ((nursery, 1), (sofa, 2)):
                if not options.ipv6_only:
                    machine.ip("addr", "add", f"169.254.77.{last}/16", "dev", "cable")
                machine.ip("link", "set", "cable", "up")
            # Until the addresses of IPv6 are checked for others that have them.
            time.sleep(2.5)
            result = meet(options, nursery, sofa, Path(folder))
            processes.end_processes()
    finally:
        for machine in (nursery, sofa):
            machine.close()
    print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
