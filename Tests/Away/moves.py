"""Networks that change under a session: routers that begin anew, a VPN, and IPv6 addresses that rotate.

    moves.py --child PROGRAM --parent PROGRAM --rendezvous PROGRAM [--json FILE] [ROW ...]

Both ends meet at a cradle-rendezvous; nothing is forwarded. There has to be sound again two seconds after the network is back, in the
same session, and with nobody's help. Needs root, nftables and coturn. Prints a line for each row.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from cradle.internet import Side, join, rules, run
from meeting import HOME, World, run_rows
from watching import Watching

#: Seconds until there is sound again.
BOUND = 2
REBOOT = 5
#: A VPN takes nothing from another address than the one that it gave.
TUNNEL = """
table ip tunnel {
  chain prerouting {
    type filter hook prerouting priority raw;
    iif lan ip saddr != 10.8.0.2 drop
  }
}
"""
KILL_SWITCH = """
table inet switch {
  chain input {
    type filter hook input priority filter;
    iifname eth0 drop
  }
  chain output {
    type filter hook output priority filter;
    oifname eth0 drop
  }
}
"""


def side(world: World, who: str) -> Side:
    return world.internet.child if who == "child" else world.internet.parent


def watch(world: World, kind: str, seconds: int) -> Watching:
    """A session at home networks of this kind."""
    world.meet_at("rendezvous")
    for end in (world.internet.child, world.internet.parent):
        end.connect(kind)
    world.child.wait_until_met()
    watching = Watching(world.parent, seconds)
    watching.wait_for_picture()
    # Until the way that stays is found.
    time.sleep(3)
    return watching


def result(watching: Watching, since: float, **more: Any) -> dict[str, Any]:
    """since: when the network was back."""
    last = watching.end()
    silent = watching.silent_seconds(since)
    return {
        "silentSeconds": silent, "reconnects": last.get("reconnects"), "said": watching.said, **more,
        "ok": silent <= BOUND and watching.is_heard and all(more.values()),
    }  # fmt: skip


def rebooted(world: World, who: str, public: str | None = None) -> dict[str, Any]:
    """The router is off for a while and knows nothing of its connections then; its provider may have given it another address."""
    end = side(world, who)
    watching = watch(world, HOME, 17)
    router = end.routers[0]
    for device in ("wan", "lan"):
        run("ip", "-n", router, "link", "set", device, "down")
    time.sleep(REBOOT)
    if public:
        run("ip", "-n", router, "addr", "flush", "dev", "wan")
        run("ip", "-n", router, "addr", "add", f"{public}/24", "dev", "wan")
    for device in ("wan", "lan"):
        run("ip", "-n", router, "link", "set", device, "up")
    run("ip", "-n", router, "route", "add", "default", "via", end.gateway)
    return result(watching, time.monotonic())


def tunnelled(world: World) -> dict[str, Any]:
    """All goes through a VPN from one moment to the next, and nothing beside it, as its kill switch has it; then no longer."""
    internet, end = world.internet, world.internet.parent
    watching = watch(world, HOME, 24)
    gateway = internet.namespace("vpn")
    try:
        join(internet.core, "vpn", "198.18.0.1/24", gateway, "wan", "198.18.0.2/24")
        join(gateway, "lan", "10.8.0.1/24", end.host, "wg0", "10.8.0.2/24")
        run("ip", "-n", gateway, "route", "add", "default", "via", "198.18.0.1")
        run("ip", "netns", "exec", gateway, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        run("ip", "netns", "exec", gateway, "nft", "-f", "-", text=rules(HOME, "10.8.0.2", False) + TUNNEL)
        run("ip", "-n", end.host, "route", "replace", "default", "via", "10.8.0.1")
        run("ip", "netns", "exec", end.host, "nft", "-f", "-", text=KILL_SWITCH)
        up = time.monotonic()
        time.sleep(7)
        through = watching.lines[-1][1]["candidatePair"]["local"]["address"]
        silent_up = watching.silent_seconds(up)
        run("ip", "netns", "exec", end.host, "nft", "delete", "table", "inet", "switch")
        run("ip", "-n", end.host, "link", "delete", "wg0")
        run("ip", "-n", end.host, "route", "add", "default", "via", f"{end.home}.1")
        seen = result(watching, time.monotonic())
        seen.update(silentSecondsUp=silent_up, through=through)
        seen["ok"] = seen["ok"] and silent_up <= BOUND and through == "10.8.0.2"
        return seen
    finally:
        internet.remove(gateway)


def rotated(world: World, who: str) -> dict[str, Any]:
    """Another address of the same network, while the old one is deprecated and goes (RFC 8981)."""
    end = side(world, who)
    watching = watch(world, "dual-stack", 16)
    pair = watching.lines[-1][1]["candidatePair"]
    old, new = f"{end.home6}10/64", f"{end.home6}20/64"
    run("ip", "-n", end.host, "addr", "add", new, "dev", "eth0", "nodad")
    run("ip", "-n", end.host, "addr", "change", old, "dev", "eth0", "preferred_lft", "0")
    time.sleep(1)
    run("ip", "-n", end.host, "addr", "del", old, "dev", "eth0")
    return result(watching, time.monotonic(), isIPv6=":" in pair["local"]["address"])


ROWS: dict[str, Callable[[World], dict[str, Any]]] = {
    **{f"{who}-router-reboots": partial(rebooted, who=who) for who in ("parent", "child")},
    "parent-public-address": partial(rebooted, who="parent", public="198.51.100.77"),
    "child-public-address": partial(rebooted, who="child", public="203.0.113.77"),
    "parent-vpn": tunnelled,
    **{f"{who}-ipv6-rotates": partial(rotated, who=who) for who in ("parent", "child")},
}


if __name__ == "__main__":
    sys.exit(run_rows(__doc__.split("\n", 1)[0], ROWS))
