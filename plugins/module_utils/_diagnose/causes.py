# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""The data of a diagnosis: causes, problems, and the grace periods of problems."""

from __future__ import annotations

import typing as t
from dataclasses import asdict, dataclass, replace

from ansible_collections.mlops.eks.plugins.module_utils._core import limits, step_record
from ansible_collections.mlops.eks.plugins.module_utils._diagnose import reasons
from ansible_collections.mlops.eks.plugins.module_utils._diagnose.reasons import Category
from ansible_collections.mlops.eks.plugins.module_utils._kube import pods as pod_view
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document
from ansible_collections.mlops.eks.plugins.module_utils._kube.pods import Container


@dataclass(frozen=True, kw_only=True)
class Cause(step_record.Cause):
    """What went wrong with which object, and the remedy. The evidence fills in `log_tail`."""

    @classmethod
    def of(cls, reason: str, subject: str, message: str, *, container: str = "") -> Cause:
        """Return a cause with the remedy of its reason."""
        remedy = reasons.lookup(reason).remedy
        return cls(reason=reason, object=subject, message=sentence(message), remedy=remedy, container=container)

    def with_log(self, lines: tuple[str, ...]) -> Cause:
        """Return this cause with the last lines of its container."""
        return replace(self, log_tail=lines)

    @property
    def category(self) -> Category:
        """The category: one of a few stable words that `retry_on` takes."""
        return reasons.lookup(self.reason).category

    def to_record(self) -> dict[str, t.Any]:
        """Return plain data."""
        return {**asdict(self), "category": self.category, "log_tail": list(self.log_tail)}

    def __str__(self) -> str:
        # The role is the rank; many pod names end with it.
        role = self.role if self.role not in ("", "pod") and not self.object.endswith(self.role) else ""
        # The launcher's container has the name of its role.
        detail = ", ".join(dict.fromkeys(filter(None, (role, self.container))))
        where = f"{self.object} ({detail})" if detail else self.object
        return f"{where}: {self.reason}: {self.message} {self.remedy}".strip()


@dataclass(frozen=True, kw_only=True)
class GracePeriods:
    """Seconds that each kind of problem may last before it fails the step; infinite where it never does."""

    image: float = limits.default("image_pull_grace")
    config: float = limits.default("config_grace")
    volume: float = limits.default("volume_grace")
    unschedulable: float = limits.default("unschedulable_grace")
    infeasible: float = limits.default("infeasible_grace")
    failure: float = limits.default("failure_grace")
    lost_rank: float = limits.default("lost_rank_grace")
    max_restarts: float = limits.default("max_restarts")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem seen now. It fails the step when the same `key` has been seen for `grace` seconds."""

    key: str
    grace: float
    cause: Cause


def of_container(pod: Document, container: Container, reason: str, message: str) -> Cause:
    """Return a cause about one container, with the remedy of its reason."""
    return Cause.of(reason, f"Pod/{pod_view.name(pod)}", message, container=container.name)


def sentence(text: str) -> str:
    """Return `text` on one line, with a full stop."""
    line = " ".join(text.split())
    return line if line.endswith(".") or not line else f"{line}."
