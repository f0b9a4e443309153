# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""FSx for Lustre file systems and their data repositories in S3.

Source: Amazon FSx API reference, DescribeFileSystems, DescribeDataRepositoryAssociations, CreateDataRepositoryTask,
DescribeDataRepositoryTasks; FSx for Lustre user guide, "Amazon FSx for Lustre metrics and dimensions".
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ansible_collections.mlops.eks.plugins.module_utils._aws.ownership import tags_of
from ansible_collections.mlops.eks.plugins.module_utils._aws.session import Aws, Reply
from ansible_collections.mlops.eks.plugins.module_utils._aws.stack import TAG

# The tag of our tasks: after an interruption a running one is followed, not started again.
PURPOSE = {"Key": "mlops.eks/purpose", "Value": "export"}
REPORTS = "mlops-eks-export"
# Seconds within which FSx publishes every metric at least once.
_METRIC_WINDOW = 300


@dataclass(frozen=True, kw_only=True)
class Association:
    """A directory that is linked to S3. `exports`: whether changes in it are exported."""

    identifier: str
    path: str
    uri: str
    lifecycle: str
    exports: bool
    failure: str


@dataclass(frozen=True, kw_only=True)
class Lustre:
    """A file system with its associations."""

    identifier: str
    name: str
    lifecycle: str
    failure: str
    associations: tuple[Association, ...]

    @property
    def exported(self) -> list[Association]:
        """The associations whose changes are exported."""
        return [entry for entry in self.associations if entry.exports]

    @property
    def whole(self) -> bool:
        """Whether every file is in an exported directory."""
        return any(entry.path.strip("/") == "" for entry in self.exported)

    def __str__(self) -> str:
        return f"file system {self.identifier} ({self.name})" if self.name else f"file system {self.identifier}"


def pages(aws: Aws, operation: str, key: str, **arguments: t.Any) -> list[Reply]:
    """Return all entries of an operation for which boto3 has no paginator."""
    found: list[Reply] = []
    token: dict[str, str] = {}
    while True:
        answer = aws.call("fsx", operation, **arguments, **token)
        found += answer.get(key) or []
        if not answer.get("NextToken"):
            return found
        token = {"NextToken": answer["NextToken"]}


def file_systems(aws: Aws, cluster: str) -> list[Lustre]:
    """Return the Lustre file systems of a cluster that are not being deleted."""
    described = aws.pages("fsx", "describe_file_systems", "FileSystems")
    ours = [entry for entry in described if entry["FileSystemType"] == "LUSTRE" and tags_of(entry).get(TAG) == cluster]
    return [_lustre(aws, entry) for entry in ours if entry["Lifecycle"] != "DELETING"]


def _lustre(aws: Aws, entry: Reply) -> Lustre:
    number = entry["FileSystemId"]
    asked = {"Filters": [{"Name": "file-system-id", "Values": [number]}]}
    found = pages(aws, "describe_data_repository_associations", "Associations", **asked)
    return Lustre(
        identifier=number,
        name=tags_of(entry).get("Name", ""),
        lifecycle=entry["Lifecycle"],
        failure=failure(entry),
        associations=tuple(_association(one) for one in found if one["Lifecycle"] != "DELETING"),
    )


def _association(entry: Reply) -> Association:
    policy = (entry.get("S3") or {}).get("AutoExportPolicy") or {}
    return Association(
        identifier=entry["AssociationId"],
        path=entry.get("FileSystemPath") or "/",
        uri=entry["DataRepositoryPath"],
        lifecycle=entry["Lifecycle"],
        exports=bool(policy.get("Events")),
        failure=failure(entry),
    )


def failure(entry: Reply) -> str:
    """Return the failure message of FSx, or an empty text."""
    return str((entry.get("FailureDetails") or {}).get("Message") or "").rstrip(".")


def task(aws: Aws, identifier: str) -> Reply:
    """Return the current state of a task."""
    found = aws.call("fsx", "describe_data_repository_tasks", TaskIds=[identifier])["DataRepositoryTasks"]
    return t.cast(Reply, found[0])


def running_export(aws: Aws, system: Lustre) -> Reply | None:
    """Return our export that an interrupted run started, if it still runs."""
    asked = [
        {"Name": "file-system-id", "Values": [system.identifier]},
        {"Name": "task-lifecycle", "Values": ["PENDING", "EXECUTING"]},
    ]
    found = pages(aws, "describe_data_repository_tasks", "DataRepositoryTasks", Filters=asked)
    ours = (one for one in found if one["Type"] == "EXPORT_TO_REPOSITORY" and PURPOSE in (one.get("Tags") or []))
    return next(ours, None)


def start_export(aws: Aws, system: Lustre) -> Reply:
    """Start the export of all files that are newer than in S3, with a report of the files that fail."""
    # Paths are relative to the mount point; none means everything.
    paths: dict[str, t.Any] = {} if system.whole else {"Paths": [entry.path.strip("/") for entry in system.exported]}
    report = {"Enabled": True, "Path": reports(system), "Format": "REPORT_CSV_20191124", "Scope": "FAILED_FILES_ONLY"}
    done = aws.call(
        "fsx",
        "create_data_repository_task",
        FileSystemId=system.identifier,
        Type="EXPORT_TO_REPOSITORY",
        Report=report,
        Tags=[PURPOSE],
        **paths,
    )
    return t.cast(Reply, done["DataRepositoryTask"])


def reports(system: Lustre) -> str:
    """Return the S3 path of the reports of failed files."""
    return f"{system.exported[0].uri.rstrip('/')}/{REPORTS}"


def oldest_queued(aws: Aws, system: Lustre, now: float) -> float:
    """Return the age in seconds of the oldest change that waits for its automatic export, 0 for none."""
    end = datetime.fromtimestamp(now, UTC)
    answer = aws.call(
        "cloudwatch",
        "get_metric_statistics",
        Namespace="AWS/FSx",
        MetricName="AgeOfOldestQueuedMessage",
        Dimensions=[
            {"Name": "FileSystemId", "Value": system.identifier},
            {"Name": "Publisher", "Value": "AutoExport"},
        ],
        StartTime=end - timedelta(seconds=_METRIC_WINDOW),
        EndTime=end,
        Period=60,
        Statistics=["Maximum"],
    )
    points = sorted(answer.get("Datapoints") or [], key=lambda point: point["Timestamp"])
    return float(points[-1]["Maximum"]) if points else 0.0
