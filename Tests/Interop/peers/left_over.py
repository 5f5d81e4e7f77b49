"""A player that finds a path to the baby unit and is gone before the handshake, as one that was killed at its start.

Prints "there is a path". Needs aioice (PyPI).
"""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import re
import ssl
import urllib.request

import aioice

OFFER = pathlib.Path(__file__).parent.parent.parent / "Fixtures" / "offer-aiortc.sdp"


async def leave(url: str, token: str) -> None:
    connection = aioice.Connection(ice_controlling=True)
    await connection.gather_candidates()
    offer = OFFER.read_bytes().decode()
    offer = re.sub(r"a=candidate:.*\r\n", "", offer)
    offer = re.sub(r"a=ice-ufrag:.*\r\n", f"a=ice-ufrag:{connection.local_username}\r\n", offer)
    offer = re.sub(r"a=ice-pwd:.*\r\n", f"a=ice-pwd:{connection.local_password}\r\n", offer)
    trust = ssl.create_default_context()
    trust.check_hostname = False
    trust.verify_mode = ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/sdp"}
    request = urllib.request.Request(url, offer.encode(), headers)
    with urllib.request.urlopen(request, context=trust, timeout=10) as response:
        answer = response.read().decode()
    connection.remote_username = answer.split("a=ice-ufrag:")[1].split("\r\n")[0]
    connection.remote_password = answer.split("a=ice-pwd:")[1].split("\r\n")[0]
    for candidate in dict.fromkeys(re.findall(r"a=candidate:(.*)\r\n", answer)):
        await connection.add_remote_candidate(aioice.Candidate.from_sdp(candidate))
    await connection.add_remote_candidate(None)
    await asyncio.wait_for(connection.connect(), 15)
    print("there is a path", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    asyncio.run(leave(options.url, options.token))


if __name__ == "__main__":
    main()
