# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The network namespaces of the nodes, and the veth pairs that connect them.

host ── veth ── first node, control plane ── bridge `nodes` ┬─ veth `node-2` ── second node
                                                            └─ veth `node-3` ── third node
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._local.addresses import POOL, Addresses, recorded
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import run
from ansible_collections.mlops.eks.plugins.module_utils._local.layout import Layout, Node

# In the first node's namespace.
BRIDGE = "nodes"


def taken(state_dir: Path, *, but: str) -> list[ipaddress.IPv4Network]:
    """Return the networks of the pool that the host's links and routes or other clusters' records use."""
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
            addresses = recorded(record)
            found += [addresses.block] if addresses else []
    return [network for network in found if network.overlaps(POOL)]


def state(layout: Layout, addresses: Addresses) -> str:
    """Return `up`, `cut` (everything exists, but the link of a node is down) or `down`."""
    nodes = [layout.node(number) for number in addresses.numbers]
    if not all(_is_mounted(node.netns_path) for node in nodes):
        return "down"
    links = json.loads(run(["ip", "-json", "-4", "address"]))
    ours = [link for link in links if link.get("ifname") == layout.link]
    if not ours or not any(entry["local"] == addresses.host for entry in ours[0]["addr_info"]):
        return "down"
    return "up" if addresses.nodes == 1 else _ports_state(nodes)


def bring_up(layout: Layout, addresses: Addresses) -> None:
    """Re-create namespaces and links, without a change to the host's own."""
    take_down(layout)
    first, *others = (layout.node(number) for number in addresses.numbers)
    _make_namespace(first)
    run(["ip", "link", "add", layout.link, "type", "veth", "peer", "name", "eth0", "netns", first.netns])
    run(["ip", "address", "add", f"{addresses.host}/30", "dev", layout.link])
    run(["ip", "link", "set", layout.link, "up"])
    inside = _inside(first)
    run([*inside, "address", "add", f"{addresses.control_plane}/30", "dev", "eth0"])
    run([*inside, "link", "set", "eth0", "up"])
    # The API server calls webhooks at service addresses, and a packet needs a route before kube-proxy can redirect it.
    # There is no default route, so that connections to the outside fail at once.
    run([*inside, "route", "add", addresses.services, "via", addresses.host])
    if others:
        run([*inside, "link", "add", BRIDGE, "type", "bridge"])
        run([*inside, "address", "add", f"{addresses.hop(1)}/{addresses.nodes_network.prefixlen}", "dev", BRIDGE])
        run([*inside, "link", "set", BRIDGE, "up"])
        run(["ip", "route", "add", str(addresses.nodes_network), "via", addresses.control_plane])
    for node in others:
        _join(node, addresses)


def set_links_up(layout: Layout, addresses: Addresses) -> None:
    """Set the links of all nodes up again."""
    for number in addresses.numbers[1:]:
        run([*_inside(layout.node(1)), "link", "set", _port(layout.node(number)), "up"])


def take_down(layout: Layout) -> None:
    """Remove links and namespaces if they exist."""
    if Path("/sys/class/net", layout.link).exists():
        run(["ip", "link", "delete", layout.link])
    for path in namespaces(layout):
        if _is_mounted(path):
            run(["ip", "netns", "delete", path.name])
        else:
            # A crash of the host may leave a plain file.
            path.unlink(missing_ok=True)


def namespaces(layout: Layout) -> list[Path]:
    """Return the files that pin the namespaces of the cluster's nodes, or did so before a crash."""
    first = [layout.netns_path] if layout.netns_path.exists() else []
    return [*first, *sorted(layout.netns_path.parent.glob(f"{layout.netns}.*"))]


def forget_namespaces(directory: Path) -> None:
    """Remove the directory of named namespaces, which `ip` bind-mounts onto itself when it creates the first."""
    while _is_mounted(directory):
        run(["umount", directory])
    with contextlib.suppress(OSError):
        directory.rmdir()


def _make_namespace(node: Node) -> None:
    run(["ip", "netns", "add", node.netns])
    run([*_inside(node), "link", "set", "lo", "up"])
    for setting in ("net/ipv4/ip_forward", "net/bridge/bridge-nf-call-iptables"):
        if Path("/proc/sys", setting).exists():
            run(["nsenter", f"--net={node.netns_path}", "sh", "-c", f"echo 1 >/proc/sys/{setting}"])


def _join(node: Node, addresses: Addresses) -> None:
    """Create a further node's namespace and connect it to the bridge, with routes to pods, services and host."""
    _make_namespace(node)
    first, inside = _inside(node.cluster.node(1)), _inside(node)
    run([*first, "link", "add", _port(node), "type", "veth", "peer", "name", "eth0", "netns", node.netns])
    run([*first, "link", "set", _port(node), "master", BRIDGE, "up"])
    run([*inside, "address", "add", f"{addresses.hop(node.number)}/{addresses.nodes_network.prefixlen}", "dev", "eth0"])
    run([*inside, "link", "set", "eth0", "up"])
    run([*first, "route", "add", addresses.node_pods(node.number), "via", addresses.hop(node.number)])
    for target in (str(addresses.link), addresses.services):
        run([*inside, "route", "add", target, "via", addresses.hop(1)])
    for number in addresses.numbers:
        if number != node.number:
            run([*inside, "route", "add", addresses.node_pods(number), "via", addresses.hop(number)])


def _port(node: Node) -> str:
    """Return the first node's side of a further node's veth pair."""
    return f"node-{node.number}"


def _inside(node: Node) -> list[str]:
    return ["ip", "-netns", node.netns]


def _ports_state(nodes: list[Node]) -> str:
    links = {link["ifname"]: link["flags"] for link in json.loads(run([*_inside(nodes[0]), "-json", "link"]))}
    ports = [_port(node) for node in nodes[1:]]
    if not all(port in links for port in ports):
        return "down"
    return "up" if all("UP" in links[port] for port in ports) else "cut"


def _is_mounted(path: Path) -> bool:
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return any(line.split()[4] == str(path) for line in mounts.splitlines())
