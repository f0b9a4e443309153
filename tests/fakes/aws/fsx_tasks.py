"""Data repository tasks of the fake FSx. An export is pending, half done, then ended; each request moves it one step.

Tags of the file system determine how it ends; AWS has no such tags: `test/files` and `test/failing-files` are counts.
"""

from __future__ import annotations

from fakes.aws.documents import Document, ServiceError, now, unique
from fakes.aws.fsx import OPERATIONS, Region

SERVICE = "fsx"
TASKS: dict[str, Document] = {}


def tag(region: Region, body: Document, key: str, default: str) -> str:
    tags = {entry["Key"]: entry["Value"] for entry in region.file_system(body["FileSystemId"])["Tags"]}
    return tags.get(key, default)


def create_data_repository_task(region: Region, body: Document) -> Document:
    """API reference: CreateDataRepositoryTask, DataRepositoryTask, CompletionReport."""
    associated = [entry for entry in region.associations.values() if entry["FileSystemId"] == body["FileSystemId"]]
    if not associated:
        raise ServiceError("BadRequest", f"File system {body['FileSystemId']} has no data repository.")
    report = body["Report"]
    if report["Enabled"] and not any(
        report["Path"].startswith(one["DataRepositoryPath"].rstrip("/")) for one in associated
    ):
        raise ServiceError("BadRequest", f"{report['Path']} is not within a data repository of the file system.")
    number = unique("task")
    asked = {key: value for key, value in body.items() if key != "ClientRequestToken"}
    TASKS[number] = {
        **asked, "TaskId": number, "Lifecycle": "PENDING", "CreationTime": now(),
        "ResourceARN": region.arn("task", number),
        "Status": {"TotalCount": 0, "SucceededCount": 0, "FailedCount": 0},
    }  # fmt: skip
    return {"DataRepositoryTask": TASKS[number]}


def describe_data_repository_tasks(region: Region, body: Document) -> Document:
    """API reference: DescribeDataRepositoryTasks, DataRepositoryTaskFilter, DataRepositoryTaskStatus."""
    names = {"file-system-id": "FileSystemId", "task-lifecycle": "Lifecycle"}
    found = [TASKS[number] for number in body["TaskIds"]] if body.get("TaskIds") else list(TASKS.values())
    for wanted in body.get("Filters") or []:
        found = [entry for entry in found if entry[names[wanted["Name"]]] in wanted["Values"]]
    answer = [dict(entry) for entry in found]
    for entry in found if body.get("TaskIds") else ():
        advance(region, entry)
    return {"DataRepositoryTasks": answer}


def advance(region: Region, task: Document) -> None:
    total, failing = (
        int(tag(region, task, f"test/{key}", value)) for key, value in (("files", "4"), ("failing-files", "0"))
    )
    if task["Lifecycle"] == "PENDING":
        task |= {"Lifecycle": "EXECUTING", "StartTime": now()}
        task["Status"] = {"TotalCount": total, "SucceededCount": total // 2, "FailedCount": 0}
    elif task["Lifecycle"] == "EXECUTING":
        task |= {"Lifecycle": "FAILED" if failing else "SUCCEEDED", "EndTime": now()}
        task["Status"] = {"TotalCount": total, "SucceededCount": total - failing, "FailedCount": failing}
        if failing:
            task["FailureDetails"] = {"Message": f"{failing} files could not be exported."}


def describe_backups(region: Region, body: Document) -> Document:
    """API reference: DescribeBackups. Nobody makes any here."""
    return {"Backups": []}


OPERATIONS |= {
    "DescribeBackups": describe_backups,
    "CreateDataRepositoryTask": create_data_repository_task,
    "DescribeDataRepositoryTasks": describe_data_repository_tasks,
}
