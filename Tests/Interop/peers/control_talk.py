#!/usr/bin/env python3
"""Says things on the control channel that a parent would not, and prints what the child answers.

Standard input: a JSON object of lists of messages, by name. A message is a text, or `{"pad": TEXT, "to": BYTES}` (spaces
behind it), or `{"binary": BYTES}`; `{"wait": SECONDS}` sends nothing. Standard output: for each name the answers in their order, `{inReplyTo, text, code}`; what
the child says unasked is left out. `null` where the channel was closed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from cradle import processes, viewing
from cradle.loopback import add_loopback_where_it_is_alone

PUSHES = {"hello", "state", "event", "heartbeat", "level", "goodbye"}
SECONDS = 20


def bytes_or_text(message: Any) -> str | bytes:
    if isinstance(message, str):
        return message
    if "binary" in message:
        return bytes(message["binary"])
    return message["pad"] + " " * (message["to"] - len(message["pad"].encode()))


async def talk(options: Any) -> dict[str, Any]:
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    whep = viewing.WhepSession(options.url, options.token)
    connection.addTransceiver("video", direction="recvonly")
    channel = connection.createDataChannel(viewing.CHANNEL_LABEL, protocol=viewing.CHANNEL_PROTOCOL)
    heard: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    opened = asyncio.Event()
    channel.on("open", opened.set)
    channel.on("close", lambda: heard.put_nowait(None))
    channel.on("message", lambda data: heard.put_nowait(json.loads(data)) if isinstance(data, str) else None)
    await connection.setLocalDescription(await connection.createOffer())
    answer = await asyncio.to_thread(whep.post, connection.localDescription.sdp)
    await connection.setRemoteDescription(RTCSessionDescription(answer.sdp, "answer"))
    await asyncio.wait_for(opened.wait(), SECONDS)
    found: dict[str, Any] = {}
    for number, (name, messages) in enumerate(json.load(sys.stdin).items()):
        answers: list[dict[str, Any]] | None = []
        end = f"end-{number}"
        try:
            for message in messages:
                if isinstance(message, dict) and "wait" in message:
                    await asyncio.sleep(message["wait"])
                else:
                    channel.send(bytes_or_text(message))
            # The channel is ordered: what was answered at once has been when this is.
            channel.send(json.dumps({"id": end, "text": "ping"}))
            while (reply := await asyncio.wait_for(heard.get(), SECONDS)) is not None and reply.get("inReplyTo") != end:
                if reply["text"] not in PUSHES:
                    answers.append({
                        "inReplyTo": reply.get("inReplyTo"), "text": reply["text"],
                        "code": reply.get("parameters", {}).get("code"),
                    })  # fmt: skip
            found[name] = answers if reply is not None else None
        except Exception as error:  # aiortc raises what it likes when a channel is gone
            processes.log(f"{name}: {error!r}")
            found[name] = None
    await asyncio.to_thread(whep.delete)
    await connection.close()
    return found


if __name__ == "__main__":
    parser = viewing.argument_parser("control")
    add_loopback_where_it_is_alone()
    print(json.dumps(asyncio.run(talk(parser.parse_args()))))
