# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""A kind of resource that a cluster may leave behind: how to find and how to remove it."""

from __future__ import annotations

import re
import shlex
import typing as t
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import Maker, maker
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws


class Found(t.NamedTuple):
    """One resource as AWS describes it. `tags` identify its owner, unless its name does."""

    identifier: str
    tags: dict[str, str]
    state: str = ""
    certain: bool = False


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of resource.

    `blocking`: the network cannot be removed while one exists. `operation` of `service` removes one, named by
    `argument` (a list when its name is a plural).
    """

    name: str
    service: str
    operation: str
    argument: str
    find: Callable[[Aws, str], Iterable[Found]]
    blocking: bool = False

    def arguments(self, identifier: str) -> dict[str, t.Any]:
        """Return the arguments of the call that removes `identifier`."""
        return {self.argument: [identifier] if self.argument.endswith("s") else identifier}

    def command(self, aws: Aws, identifier: str) -> str:
        """Return the command line that removes `identifier`."""
        option = re.sub(r"(?<!^)(?=[A-Z])", "-", self.argument).lower()
        words = [
            "aws",
            self.service,
            self.operation.replace("_", "-"),
            f"--{option}",
            identifier,
            "--region",
            aws.region,
        ]
        return shlex.join(words + (["--profile", aws.profile] if aws.profile else []))


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """One remaining resource. `maker`: the stack, or a controller inside the cluster."""

    kind: Kind
    identifier: str
    name: str
    state: str
    maker: Maker
    remedy: str

    def to_result(self) -> dict[str, str]:
        """Return plain data for Ansible."""
        shown = {"identifier": self.identifier, "name": self.name, "state": self.state, "made_by": self.maker}
        return {"kind": self.kind.name, **shown, "remedy": self.remedy}

    def __str__(self) -> str:
        return f"{self.kind.name} {self.identifier}"


def leftovers(kind: Kind, aws: Aws, cluster: str) -> list[Leftover]:
    """Return the leftovers of one kind."""
    found = ((entry, "stack" if entry.certain else maker(entry.tags, cluster)) for entry in kind.find(aws, cluster))
    return [
        Leftover(
            kind=kind,
            identifier=entry.identifier,
            name=entry.tags.get("Name", ""),
            state=entry.state,
            maker=whose,
            remedy=kind.command(aws, entry.identifier),
        )
        for entry, whose in found
        if whose is not None
    ]


def everything(aws: Aws, service: str, operation: str, key: str, **arguments: t.Any) -> list[t.Any]:
    """Return all entries of a list operation, with boto3's paginator if it has one."""
    if aws.client(service).can_paginate(operation):
        return aws.pages(service, operation, key, **arguments)
    return t.cast("list[t.Any]", aws.call(service, operation, **arguments).get(key) or [])
