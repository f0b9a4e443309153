# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The programs that the Go toolchain builds: one row each.

A row names a directory of `tools/` that holds a `go.mod`, a `go.sum` and, for some, sources. Only the `go.mod` has the
version.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

COLLECTION = Path(__file__).resolve().parents[3]
FLAGS = ("-mod=readonly", "-trimpath")
STRIP = "-s -w"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """How to build the programs of one module.

    `binaries` maps program names to packages; `version_of` is the required module whose version fills
    `{version}`, `{major}` and `{minor}` in `ldflags`; `links` are the programs that also get a stable path in `bin/`.
    """

    name: str
    binaries: Mapping[str, str]
    version_of: str | None = None
    ldflags: str = ""
    links: tuple[str, ...] = ()


_K8S = "k8s.io/kubernetes/cmd"
_K8S_VERSION = "k8s.io/component-base/version"

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="kubernetes",
            binaries={
                program: f"{_K8S}/{program}"
                for program in (
                    "kube-apiserver",
                    "kube-controller-manager",
                    "kube-scheduler",
                    "kubelet",
                    "kube-proxy",
                    "kubectl",
                )
            },
            version_of="k8s.io/kubernetes",
            ldflags=f"-X {_K8S_VERSION}.gitVersion={{version}} -X {_K8S_VERSION}.gitMajor={{major}} "
            f"-X {_K8S_VERSION}.gitMinor={{minor}} -X {_K8S_VERSION}.gitTreeState=clean",
            links=("kubectl",),
        ),
        Tool(name="etcd", binaries={"etcd": "go.etcd.io/etcd/server/v3"}, version_of="go.etcd.io/etcd/server/v3"),
        Tool(
            name="helm",
            binaries={"helm": "helm.sh/helm/v4/cmd/helm"},
            version_of="helm.sh/helm/v4",
            ldflags="-X helm.sh/helm/v4/internal/version.version={version}",
            links=("helm",),
        ),
        Tool(
            name="coredns",
            binaries={"coredns": "mlops.eks/tools/coredns"},
            version_of="github.com/coredns/coredns",
        ),
        Tool(name="pause", binaries={"pause": "mlops.eks/tools/pause"}),
        Tool(
            name="mpi-operator",
            binaries={"mpi-operator": "github.com/kubeflow/mpi-operator/cmd/mpi-operator"},
            version_of="github.com/kubeflow/mpi-operator",
            ldflags="-X github.com/kubeflow/mpi-operator/pkg/version.Version={version}",
        ),
        Tool(
            name="training-operator",
            binaries={"training-operator": "github.com/kubeflow/training-operator/cmd/training-operator.v1"},
        ),
        Tool(name="jobset", binaries={"jobset": "sigs.k8s.io/jobset"}),
        Tool(name="trainer", binaries={"trainer": "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"}),
        Tool(name="lws", binaries={"lws": "sigs.k8s.io/lws/cmd"}),
        Tool(name="kuberay", binaries={"kuberay": "github.com/ray-project/kuberay/ray-operator"}),
        # For tests: an in-memory OCI registry.
        Tool(name="registry", binaries={"registry": "mlops.eks/tools/registry"}),
        # For tests: the second program that terraform_stack supports.
        Tool(
            name="tofu",
            binaries={"tofu": "github.com/opentofu/opentofu/cmd/tofu"},
            version_of="github.com/opentofu/opentofu",
            # Otherwise it reports a development version.
            ldflags="-X github.com/opentofu/opentofu/version.dev=no",
        ),
        Tool(name="kwok", binaries={"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
        Tool(name="kueue", binaries={"kueue": "sigs.k8s.io/kueue/cmd/kueue"}),
    )
}

# The tools of a native cluster; the role builds them before it starts one.
CLUSTER_TOOLS = ("kubernetes", "etcd", "coredns", "pause")


def tool(name: str) -> Tool:
    """Return the row of `name`; refuse an unknown name with the list of known ones."""
    if name not in TOOLS:
        raise InvalidInputError(f"Tool {name!r} is unknown: choose among {', '.join(sorted(TOOLS))}")
    return TOOLS[name]


def source_dir(row: Tool, tools_dir: Path | None = None) -> Path:
    """Return the directory that holds the tool's `go.mod`."""
    directory = (tools_dir or COLLECTION / "tools") / row.name
    if not (directory / "go.mod").is_file():
        raise InvalidInputError(f"Tool {row.name!r}: {directory / 'go.mod'} does not exist; give `tools_dir`")
    return directory


def required_version(module: str, go_mod: str) -> str:
    """Return the version of `module` that the text of a `go.mod` requires."""
    match = re.search(rf"^(?:require)?\s+{re.escape(module)} (v\S+)", go_mod, re.MULTILINE)
    if match is None:
        raise InvalidInputError(f"go.mod does not require {module}; it must, to pin the version")
    return match.group(1)


def go_version(go_mod: str) -> tuple[int, ...]:
    """Return the oldest Go version that a `go.mod` accepts."""
    match = re.search(r"^go (\d+(?:\.\d+)*)", go_mod, re.MULTILINE)
    return tuple(int(part) for part in match.group(1).split(".")) if match else (1, 21)


def ldflags(row: Tool, go_mod: str) -> str:
    """Return the linker flags: strip the program and set its version where it has a variable for it."""
    if not row.ldflags or row.version_of is None:
        return STRIP
    version = required_version(row.version_of, go_mod)
    major, minor = version.removeprefix("v").split(".")[:2]
    return f"{STRIP} {row.ldflags.format(version=version, major=major, minor=minor)}"


def identity(row: Tool, directory: Path) -> str:
    """Return 12 hex digits that change with every input of the build."""
    go_mod = (directory / "go.mod").read_text(encoding="utf-8")
    digest = hashlib.sha256()
    for path in sorted([directory / "go.mod", directory / "go.sum", *directory.glob("*.go")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update("\0".join([*FLAGS, ldflags(row, go_mod)]).encode())
    digest.update("\0".join(f"{name}={package}" for name, package in sorted(row.binaries.items())).encode())
    return digest.hexdigest()[:12]


def built_dir(row: Tool, cache: Path, tools_dir: Path | None = None) -> Path:
    """Return the directory of the tool's built programs."""
    return cache / "bin" / f"{row.name}-{identity(row, source_dir(row, tools_dir))}"
