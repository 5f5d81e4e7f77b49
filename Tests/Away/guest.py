"""A viewer of another make away from home: aiortc, with a token, through a forwarded port. It knows the
child's servers from whoever gave it the token, and is told the child's candidates in the answer alone, as WHEP has it.

    guest.py --child PROGRAM [ROW ...]

Needs root, nftables, coturn and aiortc. Prints a line for each row.
"""

from __future__ import annotations

import argparse
import base64
import hmac
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cradle.ends import AwayChild
from cradle.internet import CHILD_PORT, SERVER, Internet
from cradle.meeting_servers import SECRET, Coturn, trusting

VIEWER = Path(__file__).resolve().parents[1] / "Interop" / "peers" / "viewer_aiortc.py"


def lent(url: str) -> dict[str, str]:
    """Credentials for an hour, as coturn's REST interface has them."""
    name = f"{int(time.time()) + 3600}:guest"
    digest = hmac.new(SECRET.encode(), name.encode(), "sha1").digest()
    return {"urls": url, "username": name, "credential": base64.b64encode(digest).decode()}


def seen(world: Internet, child: AwayChild, url: str, authority: Path) -> dict[str, Any]:
    """The viewer's own account."""
    servers = json.dumps([{"urls": f"stun:{SERVER}"}, lent(url)])
    token = child.add_token("guest")
    done = subprocess.run(
        [*world.parent.prefix(), sys.executable, str(VIEWER), "--url", f"https://{world.child.public}:{CHILD_PORT}/whep",
         "--token", token, "--servers", servers, "--duration", "4"],
        capture_output=True, text=True, timeout=90, env=trusting(authority))  # fmt: skip
    child.output("token", "revoke", "guest")
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return {"error": done.stderr[-800:]}


#: By name: how both ends are connected, the viewer's relay, and the TCP ports that alone are let out at its end.
ROWS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "port-restricted": ("port-restricted", f"turn:{SERVER}:3478", ()),
    "tcp-443": ("port-restricted", f"turns:{SERVER}:443", (CHILD_PORT, 443)),
    "symmetric": ("symmetric", f"turn:{SERVER}:3478", ()),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    options = parser.parse_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    wrong = 0
    names = options.rows or list(ROWS)
    with tempfile.TemporaryDirectory(prefix="cradle-guest-") as temporary, Internet() as world:
        folder = Path(temporary)
        at = ROWS[names[0]][0]
        world.child.connect(at)
        coturn = Coturn(world, folder)
        servers = f"[{{urls: ['stun:{SERVER}', 'turn:{SERVER}'], secret: {SECRET}}}]"
        child = AwayChild(options.child, world.child, folder, servers)
        try:
            for name in names:
                kind, url, ports = ROWS[name]
                # A child that has just moved does not know its new addresses yet, and the answer has to name them.
                if kind != at:
                    world.child.connect(kind)
                at = kind
                world.parent.connect(kind)
                if ports:
                    world.parent.let_through_only(ports)
                result = seen(world, child, url, folder / "authority.pem")
                pair = result.get("candidatePair") or {}
                relayed = "relay" in [end["type"] for end in pair.values()]
                is_right = bool(result.get("framesDecoded")) and not result.get("error") and relayed == (name != "port-restricted")
                wrong += not is_right
                print(f"{'ok   ' if is_right else 'WRONG'} {name}: {result.get('framesDecoded')} pictures, {pair}, {result.get('error')}", flush=True)
                if not is_right:
                    print(child.log.read_text("utf-8", "replace")[-2000:], file=sys.stderr)
        finally:
            child.close()
            coturn.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
