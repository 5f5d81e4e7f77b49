"""An Internet of this machine's own, in network namespaces: a core, a public server, and two homes behind routers of any kind.

Routers drop what nobody asked for, as those of families do; they never refuse it. Nothing leaves the machine. Needs root.

Addresses, of the ranges for documentation (RFC 5737, RFC 3849): the child's side 203.0.113.0/24, the parent's 198.51.100.0/24, the
server's 192.0.2.0/24. Each home has 192.168.1.0/24 or 192.168.2.0/24; a carrier's NAT has 100.64.0.0/24 inside (RFC 6598).
With IPv6: 2001:db8:1::/48 and 2001:db8:2::/48, without translation, and 2001:db8::/64 for the server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

#: The ways in which a host may be connected, by mapping and filtering (RFC 4787 sections 4.1 and 5).
#: none: no NAT. full-cone: endpoint-independent filtering. address-restricted: address-dependent filtering. port-restricted:
#: address and port-dependent filtering, endpoint-independent mapping. symmetric: also the mapping depends on address and port.
#: cgnat: a carrier's port-restricted NAT behind the home's port-restricted one, as any NAT behind another. cgnat-open: a carrier's that
#: filters nothing (RFC 6888 section 3, REQ-7), behind a home's of the same kind.
KINDS = ("none", "full-cone", "address-restricted", "port-restricted", "symmetric", "cgnat", "cgnat-open")
#: ipv6-only: no IPv4 at all. dual-stack: port-restricted IPv4, and IPv6. The router lets nothing in by IPv6 that nobody asked for (RFC 6092).
IPV6_KINDS = ("ipv6-only", "dual-stack")

SERVER, SERVER6 = "192.0.2.2", "2001:db8::2"
#: The same machine's second address: rendezvous and relay both want port 443.
MEETING, MEETING6 = "192.0.2.3", "2001:db8::3"
CHILD_PORT = 8443
#: What `ip netns exec` puts over /etc, by namespace.
NAMES = Path("/etc/netns")


def needs_relay(first: str, second: str) -> bool:
    """Whether no direct path can be found: one end takes another port for each peer, and the other lets nothing else in."""
    narrow = {"port-restricted", "symmetric", "cgnat"}
    return "symmetric" in (first, second) and first in narrow and second in narrow


def run(*arguments: str, text: str | None = None) -> None:
    done = subprocess.run(arguments, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")


class Side:
    """One end: its host's namespace and public address."""

    def __init__(self, internet: Internet, name: str, public: str, gateway: str, home: str):
        self.internet, self.name = internet, name
        self.public, self.gateway, self.home = public, gateway, home
        self.host = internet.namespace(f"{name}-host")
        #: IPv6 networks: the cable to the core, and the home.
        number = 1 if name == "child" else 2
        self.wan6, self.home6 = f"2001:db8:{number}:1::", f"2001:db8:{number}:2::"
        self.routers: list[str] = []
        self.line: subprocess.Popen[str] | None = None

    def connect(self, kind: str) -> None:
        """Through routers of this kind; whatever was there before is gone."""
        wan = f"{self.name}-wan"
        core = self.internet.core
        self.end_line()
        for router in self.routers:
            self.internet.remove(router)
        self.routers = []
        subprocess.run(["ip", "-n", core, "link", "delete", wan], capture_output=True)
        subprocess.run(["ip", "-n", self.host, "link", "delete", "eth0"], capture_output=True)
        # From the outside to the inside: where the next is plugged in, its address there, and its gateway's.
        ends: list[tuple[str, str, str, str]] = []
        layers = {
            "none": [], "cgnat": ["port-restricted", "port-restricted"], "cgnat-open": ["full-cone", "full-cone"],
            "ipv6-only": ["port-restricted"], "dual-stack": ["port-restricted"],
        }.get(kind, [kind])  # fmt: skip
        outer, device, subnet = core, wan, f"{self.gateway}/24"
        address, gateway = self.public, self.gateway
        for index, layer in enumerate(layers):
            router = self.internet.namespace(f"{self.name}-router{index}")
            self.routers.append(router)
            self.join(outer, device, subnet, router, "wan", f"{address}/24")
            run("ip", "-n", router, "route", "add", "default", "via", gateway)
            is_last = index == len(layers) - 1
            inner = self.home if is_last else "100.64.0"
            ends.append((router, layer, f"{inner}.1", f"{inner}.{10 if is_last else 2}"))
            outer, device, subnet = router, "lan", f"{inner}.1/24"
            address, gateway = f"{inner}.{10 if is_last else 2}", f"{inner}.1"
        self.join(outer, device, subnet, self.host, "eth0", f"{address}/24")
        run("ip", "-n", self.host, "route", "add", "default", "via", gateway)
        for router, layer, _, inside in ends:
            run("ip", "netns", "exec", router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
            run("ip", "netns", "exec", router, "nft", "-f", "-", text=rules(layer, inside, self.internet.is_forwarded))
        if kind in IPV6_KINDS:
            self.connect_ipv6(kind)
        else:
            allow_ipv6(self.host, False)

    def connect_ipv6(self, kind: str) -> None:
        """Beside IPv4, or instead of it."""
        core, router = self.internet.core, self.routers[0]
        for namespace in (router, self.host):
            allow_ipv6(namespace)
        run("ip", "netns", "exec", router, "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        for namespace, device, address in ((core, f"{self.name}-wan", f"{self.wan6}1"), (router, "wan", f"{self.wan6}2"),
                                           (router, "lan", f"{self.home6}1"), (self.host, "eth0", f"{self.home6}10")):  # fmt: skip
            run("ip", "-n", namespace, "addr", "add", f"{address}/64", "dev", device, "nodad")
        run("ip", "-n", core, "route", "add", f"{self.home6}/64", "via", f"{self.wan6}2")
        run("ip", "-n", router, "route", "add", "default", "via", f"{self.wan6}1")
        run("ip", "-n", self.host, "route", "add", "default", "via", f"{self.home6}1")
        run("ip", "netns", "exec", router, "nft", "-f", "-", text=IPV6_RULES)
        if kind == "ipv6-only":
            run("ip", "-n", self.host, "-4", "addr", "flush", "dev", "eth0")

    def join(self, outer: str, device: str, subnet: str, inner: str, inner_device: str, address: str) -> None:
        """The line to the core may be a long one."""
        milliseconds = self.internet.delays.get(self.name, 0) if outer == self.internet.core else 0
        if not milliseconds:
            return join(outer, device, subnet, inner, inner_device, address)
        program = Path(__file__).with_name("long_line.py")
        self.line = subprocess.Popen(
            [sys.executable, str(program), outer, device, inner, inner_device, str(milliseconds)], stdout=subprocess.PIPE, text=True)
        assert self.line.stdout and self.line.stdout.readline().strip() == "ready"
        for namespace, name, own in ((outer, device, subnet), (inner, inner_device, address)):
            run("ip", "-n", namespace, "addr", "add", own, "dev", name)
            run("ip", "-n", namespace, "link", "set", name, "up")

    def end_line(self) -> None:
        if self.line:
            self.line.kill()
            self.line.wait()
            self.line = None

    def prefix(self) -> list[str]:
        return ["ip", "netns", "exec", self.host]

    def let_through_only(self, tcp_ports: tuple[int, ...]) -> None:
        """As some offices and hotels do, at the router next to the host."""
        ports = ", ".join(str(port) for port in tcp_ports)
        run("ip", "netns", "exec", self.routers[-1], "nft", "-f", "-", text=f"""
table ip office {{
  chain forward {{
    type filter hook forward priority -10; policy accept;
    iif lan tcp dport {{ {ports} }} accept
    iif lan drop
  }}
}}
""")


class Internet:
    def __init__(self, is_forwarded: bool = True, delays: dict[str, float] | None = None) -> None:
        """is_forwarded: routers pass the child's TCP port on, as an owner has set it up. delays: of the lines to the core, in
        milliseconds each way, by the name of the side."""
        self.is_forwarded = is_forwarded
        self.delays = delays or {}
        self.tag = f"cradle-{os.getpid()}"
        self.namespaces: list[str] = []
        try:
            self.core = self.namespace("core")
            run("ip", "netns", "exec", self.core, "sysctl", "-qw", "net.ipv4.ip_forward=1")
            self.server = self.namespace("server")
            join(self.core, "server", "192.0.2.1/24", self.server, "eth0", f"{SERVER}/24")
            run("ip", "-n", self.server, "addr", "add", f"{MEETING}/24", "dev", "eth0")
            run("ip", "-n", self.server, "route", "add", "default", "via", "192.0.2.1")
            for namespace, addresses in ((self.core, ["2001:db8::1"]), (self.server, [SERVER6, MEETING6])):
                allow_ipv6(namespace)
                for address in addresses:
                    device = "server" if namespace == self.core else "eth0"
                    run("ip", "-n", namespace, "addr", "add", f"{address}/64", "dev", device, "nodad")
            run("ip", "netns", "exec", self.core, "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
            run("ip", "-n", self.server, "route", "add", "default", "via", "2001:db8::1")
            self.child = Side(self, "child", "203.0.113.2", "203.0.113.1", "192.168.1")
            self.parent = Side(self, "parent", "198.51.100.2", "198.51.100.1", "192.168.2")
        except BaseException:
            self.close()
            raise

    def namespace(self, name: str) -> str:
        full = f"{self.tag}-{name}"
        run("ip", "netns", "add", full)
        self.namespaces.append(full)
        run("ip", "-n", full, "link", "set", "lo", "up")
        allow_ipv6(full, False)
        return full

    def name(self, hosts: dict[str, str | tuple[str, ...]]) -> None:
        """What both ends call some addresses: /etc/hosts of whatever `ip netns exec` starts there (ip-netns(8))."""
        for side in (self.child, self.parent):
            folder = NAMES / side.host
            folder.mkdir(parents=True, exist_ok=True)
            lines = (
                f"{address} {host}\n" for host, given in {"localhost": "127.0.0.1", **hosts}.items()
                for address in ((given,) if isinstance(given, str) else given))  # fmt: skip
            (folder / "hosts").write_text("".join(lines))

    def remove(self, namespace: str) -> None:
        subprocess.run(["ip", "netns", "delete", namespace], capture_output=True)
        shutil.rmtree(NAMES / namespace, ignore_errors=True)
        self.namespaces.remove(namespace)

    def close(self) -> None:
        for side in (getattr(self, "child", None), getattr(self, "parent", None)):
            if side:
                side.end_line()
        for namespace in list(self.namespaces):
            self.remove(namespace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def join(first: str, first_device: str, first_address: str, second: str, second_device: str, second_address: str) -> None:
    """A cable between two namespaces."""
    run("ip", "link", "add", first_device, "netns", first, "type", "veth", "peer", "name", second_device, "netns", second)
    for namespace, device, address in ((first, first_device, first_address), (second, second_device, second_address)):
        run("ip", "-n", namespace, "addr", "add", address, "dev", device)
        run("ip", "-n", namespace, "link", "set", device, "up")


def allow_ipv6(namespace: str, is_allowed: bool = True) -> None:
    run("ip", "netns", "exec", namespace, "sysctl", "-qw", f"net.ipv6.conf.all.disable_ipv6={0 if is_allowed else 1}")


def rules(kind: str, inside: str, is_forwarded: bool) -> str:
    """nft's rules of a router."""
    mapping = "masquerade fully-random" if kind == "symmetric" else "masquerade"
    unasked = {
        "full-cone": f"iif wan udp dport 1024-65535 dnat to {inside}",
        "address-restricted": f"iif wan ip saddr @talked udp dport 1024-65535 dnat to {inside}",
    }.get(kind, "")
    forwarded = f"iif wan tcp dport {CHILD_PORT} dnat to {inside}" if is_forwarded else ""
    note = "oif wan meta l4proto udp add @talked { ip daddr }" if kind == "address-restricted" else ""
    return f"""
table ip router {{
  set talked {{ type ipv4_addr; flags dynamic, timeout; timeout 5m; }}
  chain prerouting {{
    type nat hook prerouting priority dstnat;
    {forwarded}
    {unasked}
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat;
    oif wan {mapping}
  }}
  chain forward {{
    type filter hook forward priority filter; policy drop;
    {note}
    ct state established,related accept
    iif lan accept
    ct status dnat accept
  }}
  chain input {{
    type filter hook input priority filter; policy drop;
    iif {{ lo, lan }} accept
    ct state established accept
  }}
}}
"""


#: A home router's for IPv6.
IPV6_RULES = """
table ip6 router {
  chain forward {
    type filter hook forward priority filter; policy drop;
    ct state established,related accept
    iif lan accept
  }
}
"""
