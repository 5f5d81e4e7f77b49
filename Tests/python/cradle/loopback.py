"""aiortc (PyPI) where there is no network."""

from __future__ import annotations

import aioice.ice


def add_loopback_where_it_is_alone() -> None:
    """aioice leaves loopback out; where there is nothing else, it is all that we have."""
    original = aioice.ice.get_host_addresses

    def addresses(use_ipv4: bool, use_ipv6: bool) -> list[str]:
        found = original(use_ipv4, use_ipv6)
        return found or ["127.0.0.1"] * use_ipv4 + ["::1"] * use_ipv6

    aioice.ice.get_host_addresses = addresses
