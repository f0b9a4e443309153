# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The cluster's network namespace and the veth pair that joins it to the host."""

from __future__ import annotations

import contextlib
import ipaddress
import json
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import POOL, Addresses
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout


def taken(state_dir: Path, *, but: str) -> list[ipaddress.IPv4Network]:
    """Return the networks in the pool that the host's links and routes or other clusters' records use."""
    found = []
    for link in json.loads(run(["ip", "-json", "-4", "address"])):
        for entry in link.get("addr_info", []):
            found.append(ipaddress.IPv4Network(f"{entry['local']}/{entry['prefixlen']}", strict=False))
    for route in json.loads(run(["ip", "-json", "-4", "route", "show", "table", "all"])):
        destination = route["dst"]
        if destination[0].isdigit():
            found.append(ipaddress.IPv4Network(destination, strict=False))
    for record in state_dir.glob("*/cluster.json"):
        if record.parent.name != but:
            found.append(Addresses(index=json.loads(record.read_text(encoding="utf-8"))["index"]).link)
    return [network for network in found if network.overlaps(POOL)]


def is_up(layout: Layout, addresses: Addresses) -> bool:
    """Return whether namespace and link are there as they should be."""
    if not _is_namespace(layout):
        return False
    links = json.loads(run(["ip", "-json", "-4", "address"]))
    ours = [link for link in links if link.get("ifname") == layout.link]
    return bool(ours) and any(entry["local"] == addresses.host for entry in ours[0]["addr_info"])


def bring_up(layout: Layout, addresses: Addresses) -> None:
    """Make namespace and link anew; nothing of the host's own is touched."""
    take_down(layout)
    run(["ip", "netns", "add", layout.netns])
    peer = ["peer", "name", "eth0", "netns", layout.netns]
    run(["ip", "link", "add", layout.link, "type", "veth", *peer])
    run(["ip", "address", "add", f"{addresses.host}/30", "dev", layout.link])
    run(["ip", "link", "set", layout.link, "up"])
    inside = ["ip", "-netns", layout.netns]
    run([*inside, "link", "set", "lo", "up"])
    run([*inside, "address", "add", f"{addresses.node}/30", "dev", "eth0"])
    run([*inside, "link", "set", "eth0", "up"])
    # The API server calls webhooks at service addresses, and a packet needs a route before kube-proxy can turn it.
    # There is no default route: what leads outside fails at once instead of hanging.
    run([*inside, "route", "add", addresses.services, "via", addresses.host])
    for setting in ("net/ipv4/ip_forward", "net/bridge/bridge-nf-call-iptables"):
        if Path("/proc/sys", setting).exists():
            run(["nsenter", f"--net={layout.netns_path}", "sh", "-c", f"echo 1 >/proc/sys/{setting}"])


def take_down(layout: Layout) -> None:
    """Remove link and namespace if they are there."""
    if Path("/sys/class/net", layout.link).exists():
        run(["ip", "link", "delete", layout.link])
    if _is_namespace(layout):
        run(["ip", "netns", "delete", layout.netns])
    else:
        layout.netns_path.unlink(missing_ok=True)


def forget_namespaces(directory: Path) -> None:
    """Remove the directory of named namespaces, which `ip` mounts onto itself when it makes the first one."""
    while _is_mounted(directory):
        run(["umount", directory])
    with contextlib.suppress(OSError):
        directory.rmdir()


def _is_namespace(layout: Layout) -> bool:
    """Return whether the file still pins a namespace: after a crash of the host a plain file may be left."""
    return _is_mounted(layout.netns_path)


def _is_mounted(path: Path) -> bool:
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return any(line.split()[4] == str(path) for line in mounts.splitlines())
