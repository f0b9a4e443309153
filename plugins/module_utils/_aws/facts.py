# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Answers of AWS that several checks share; each is requested once."""

from __future__ import annotations

import threading
import typing as t
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime

from ansible_collections.mlops.eks.plugins.module_utils._aws.node_needs import StepNeeds
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws, Reply
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import TAG, Stack
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError


class Facts:
    """Answers of AWS about one region. The first caller fetches an answer; concurrent callers wait for it."""

    def __init__(self, aws: Aws, types: Iterable[str]) -> None:
        self._aws = aws
        self._types = tuple(sorted(set(types)))
        self._lock = threading.Lock()
        self._asked: dict[str, Future[t.Any]] = {}

    def _once(self, what: str, ask: Callable[[], t.Any]) -> t.Any:
        with self._lock:
            first = what not in self._asked
            answer = self._asked.setdefault(what, Future())
        if first:
            try:
                answer.set_result(ask())
            except EksError as error:
                answer.set_exception(error)
        return answer.result()

    def zones(self) -> dict[str, Reply]:
        """Return the region's availability zones by name, without local zones and other types of zone."""

        def ask() -> dict[str, Reply]:
            found = self._aws.call("ec2", "describe_availability_zones")["AvailabilityZones"]
            return {
                zone["ZoneName"]: zone
                for zone in found
                if zone.get("ZoneType", "availability-zone") == "availability-zone"
            }

        return t.cast(dict[str, Reply], self._once("zones", ask))

    def offered(self) -> dict[str, set[str]]:
        """Return the zones that offer each of the requested instance types."""

        def ask() -> dict[str, set[str]]:
            found = self._aws.pages(
                "ec2",
                "describe_instance_type_offerings",
                "InstanceTypeOfferings",
                LocationType="availability-zone",
                Filters=[{"Name": "instance-type", "Values": list(self._types)}],
            )
            zones: dict[str, set[str]] = {name: set() for name in self._types}
            for entry in found:
                zones[entry["InstanceType"]].add(entry["Location"])
            return zones

        return t.cast(dict[str, set[str]], self._once("offered", ask))

    def types(self) -> dict[str, Reply]:
        """Return the EC2 descriptions of the requested instance types, without those that the region does not have."""
        return t.cast(dict[str, Reply], self._once("types", lambda: self.describe_types(self._types)))

    def describe_types(self, names: Iterable[str]) -> dict[str, Reply]:
        """Return the EC2 descriptions of instance types. A filter is used because an unknown name fails the call."""
        wanted = [{"Name": "instance-type", "Values": sorted(names)}]
        if not wanted[0]["Values"]:
            return {}
        found = self._aws.pages("ec2", "describe_instance_types", "InstanceTypes", Filters=wanted)
        return {entry["InstanceType"]: entry for entry in found}

    def reservations(self) -> dict[str, Reply]:
        """Return the capacity reservations and Capacity Blocks that the account may use, by their ID."""

        def ask() -> dict[str, Reply]:
            found = self._aws.pages("ec2", "describe_capacity_reservations", "CapacityReservations")
            return {entry["CapacityReservationId"]: entry for entry in found}

        return t.cast(dict[str, Reply], self._once("reservations", ask))

    def vpcs(self) -> list[Reply]:
        """Return the region's VPCs."""
        return t.cast(list[Reply], self._once("vpcs", lambda: self._aws.pages("ec2", "describe_vpcs", "Vpcs")))

    def cluster(self, name: str) -> Reply | None:
        """Return the EKS cluster of that name, or `None` when there is none."""
        return t.cast("Reply | None", self._once(f"cluster {name}", lambda: self._aws.cluster(name)))

    def made(self, name: str) -> bool:
        """Return whether the stack's cluster exists; quotas then count its resources as in use."""
        found = self.cluster(name)
        return found is not None and (found.get("tags") or {}).get(TAG) == name


@dataclass(frozen=True, kw_only=True)
class Context:
    """The input of a check.

    `steps` are the steps of the chosen pipelines that request node types; `now` is in UTC; `others` are the clusters
    of the play in the same account and region, which share its quotas.
    """

    aws: Aws
    stack: Stack
    now: datetime
    facts: Facts
    steps: tuple[StepNeeds, ...] = ()
    others: tuple[Context, ...] = ()
