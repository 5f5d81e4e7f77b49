#!/usr/bin/env python3
"""Starts a session with a token, leaves once its control channel is open, and starts the next, for `--duration` seconds.

Standard output: `{"started": COUNT, "refused": {STATUS: COUNT}, "details": [TEXT]}`.
"""

from __future__ import annotations

import asyncio
import collections
import json
import time
from typing import Any

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from cradle import viewing
from cradle.loopback import add_loopback_where_it_is_alone

SECONDS = 20


async def flood(options: Any) -> dict[str, Any]:
    end = time.monotonic() + options.duration
    started, refused, details = 0, collections.Counter(), set()
    while time.monotonic() < end:
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        whep = viewing.WhepSession(options.url, options.token)
        connection.addTransceiver("video", direction="recvonly")
        opened = asyncio.Event()
        channel = connection.createDataChannel(viewing.CHANNEL_LABEL, protocol=viewing.CHANNEL_PROTOCOL)
        channel.on("open", opened.set)
        try:
            await connection.setLocalDescription(await connection.createOffer())
            answer = await asyncio.to_thread(whep.post, connection.localDescription.sdp)
            await connection.setRemoteDescription(RTCSessionDescription(answer.sdp, "answer"))
            await asyncio.wait_for(opened.wait(), SECONDS)
            started += 1
            await asyncio.to_thread(whep.delete)
        except viewing.WhepError as error:
            refused[str(error.status)] += 1
            details.add(str(error).split(": ", 2)[-1])
            await asyncio.sleep(0.1)
        await connection.close()
    return {"started": started, "refused": refused, "details": sorted(details)}


if __name__ == "__main__":
    parser = viewing.argument_parser("flood")
    add_loopback_where_it_is_alone()
    print(json.dumps(asyncio.run(flood(parser.parse_args()))))
