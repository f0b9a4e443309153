# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Requirements of a native cluster on the machine, and the facts that its configuration depends on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError, MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import require, x509
from ansible_collections.mlops.eks.plugins.module_utils._local import cgroups
from ansible_collections.mlops.eks.plugins.module_utils._local.commands import which
from ansible_collections.mlops.eks.plugins.module_utils._local.node_configuration import CNI_BIN, HostFacts

# Program (or file) -> Debian package.
PACKAGES: Mapping[str, str] = {
    "containerd": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "ip": "iproute2",
    "nsenter": "util-linux",
    f"{CNI_BIN}/bridge": "containernetworking-plugins",
}
CAP_SYS_RESOURCE = 24
# A cluster takes about 20 inotify instances, and 8 for each further node. The kernel's default is 128 for all processes
# of a user. A kubelet that gets none ends with "too many open files".
INOTIFY_INSTANCES = 1024
INOTIFY_LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")


def check_user() -> None:
    """Refuse a machine or user that cannot run a native cluster."""
    if platform.system() != "Linux":
        raise InvalidInputError(
            f"A native cluster needs Linux, this is {platform.system()}; use the provider kind or existing"
        )
    if os.geteuid() != 0:
        raise InvalidInputError(
            "A native cluster needs root (it makes network namespaces and cgroups); run as root or with become"
        )


def lacking_packages() -> list[str]:
    """Return the Debian packages that are not installed."""
    return sorted({package for program, package in PACKAGES.items() if which(program) is None})


def check_packages() -> None:
    """Refuse to start without the distribution's programs and the library for certificates."""
    require(x509)
    if lacking := lacking_packages():
        names = " ".join(lacking)
        raise MissingToolError(f"A native cluster needs programs that are not installed: apt-get install {names}")


def check_programs(programs: Mapping[str, str]) -> None:
    """Refuse to start if programs are not built."""
    lacking = sorted(name for name, path in programs.items() if not Path(path).is_file())
    if lacking:
        raise MissingToolError(f"Programs not built: {', '.join(lacking)}; build them with mlops.eks.go_tool")


def inotify_instances(limit: Path = INOTIFY_LIMIT) -> int:
    """Return how many inotify instances a user may have, at most `INOTIFY_INSTANCES`."""
    return min(int(limit.read_text(encoding="ascii")), INOTIFY_INSTANCES)


def raise_inotify_instances(limit: Path = INOTIFY_LIMIT) -> None:
    """Raise the host's limit until its next boot if it is too low."""
    if inotify_instances(limit) == INOTIFY_INSTANCES:
        return
    try:
        limit.write_text(str(INOTIFY_INSTANCES), encoding="ascii")
    except OSError as error:
        raise InvalidInputError(
            f"Only {inotify_instances(limit)} inotify instances are allowed and {limit} cannot be written ({error}); "
            f"on the machine's host run: sysctl -w fs.inotify.max_user_instances={INOTIFY_INSTANCES}"
        ) from error


def host_facts() -> HostFacts:
    """Return the facts that the configuration depends on."""
    return HostFacts(
        cgroup_v2=cgroups.is_v2(),
        can_lower_oom_score=_has_capability(CAP_SYS_RESOURCE),
        bridge_netfilter=Path("/proc/sys/net/bridge/bridge-nf-call-iptables").exists(),
    )


def _has_capability(bit: int) -> bool:
    lines: Sequence[str] = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    effective = next((line.split()[1] for line in lines if line.startswith("CapEff:")), "0")
    return bool(int(effective, 16) >> bit & 1)
