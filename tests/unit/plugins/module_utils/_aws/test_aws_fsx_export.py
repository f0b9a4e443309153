"""Nothing that is only in a Lustre file system is lost: what is refused, exported, followed and waited for."""

from __future__ import annotations

import typing as t

import pytest
from fakes.aws import fsx, fsx_tasks
from fakes.clock import FakeClock

from ansible_collections.mlops.eks.plugins.module_utils._aws import fsx_export as engine
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import ConflictError, DeniedError

Document = dict[str, t.Any]


class Account:
    """The fake FSx, asked without a network; `ages` are what CloudWatch tells of the queue, one at each look."""

    def __init__(self) -> None:
        self.region, self.profile = "us-west-2", None
        self.state = fsx.Region("us-west-2")
        self.ages: list[float | Exception] = []
        self.said: list[str] = []
        self.clock = FakeClock()

    def call(self, service: str, operation: str, **arguments: t.Any) -> Document:
        if service == "cloudwatch":
            age = self.ages.pop(0) if self.ages else 0.0
            if isinstance(age, Exception):
                raise age
            return {"Datapoints": [{"Timestamp": 2, "Maximum": age}, {"Timestamp": 1, "Maximum": 99.0}]}
        name = "".join(part.title() for part in operation.split("_"))
        return fsx.OPERATIONS[name](self.state, arguments)

    def pages(self, service: str, operation: str, key: str, **arguments: t.Any) -> list[Document]:
        return t.cast("list[Document]", self.call(service, operation, **arguments)[key])

    def file_system(self, name: str, *, cluster: str = "demo", lifecycle: str = "AVAILABLE", **tags: str) -> str:
        number = f"fs-{len(self.state.file_systems):017x}"
        named = {"Name": name, "mlops.eks/cluster": cluster} | {
            f"test/{key.replace('_', '-')}": tags[key] for key in tags
        }
        self.state.file_systems[number] = {
            "FileSystemId": number, "FileSystemType": "LUSTRE", "Lifecycle": lifecycle,
            "Tags": [{"Key": key, "Value": value} for key, value in named.items()],
        }  # fmt: skip
        return number

    def associate(self, system: str, path: str, uri: str, *, export: bool = True, **more: t.Any) -> None:
        policy = {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}} if export else {}
        body = {"FileSystemId": system, "FileSystemPath": path, "DataRepositoryPath": uri, "S3": policy}
        self.call("fsx", "create_data_repository_association", **body)["Association"].update(more)

    def export(self, *, check: bool = False, **params: t.Any) -> Document:
        given = {"name": "demo", "region": "us-west-2", "profile": None, "discard_unexported": False, "timeout": 3600.0}
        return engine.fsx_export(given | params, check=check, say=self.said.append, clock=self.clock)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Account:
    found = Account()
    monkeypatch.setattr(engine, "Aws", lambda **_: found)
    monkeypatch.setattr(fsx_tasks, "TASKS", {})
    return found


def test_everything_is_exported_and_counted(account: Account) -> None:
    system = account.file_system("demo-fsx", files="10")
    account.associate(system, "/", "s3://data/runs/")
    result = account.export()
    task = next(iter(fsx_tasks.TASKS.values()))
    assert result["changed"]
    assert result["exports"] == [{"file_system": system, "paths": ["/"], "task": task["TaskId"], "files": 10}]
    assert "Paths" not in task
    assert task["Report"]["Path"] == "s3://data/runs/mlops-eks-export"
    assert any("5 of 10 files" in line for line in account.said)


def test_directories_are_exported_by_paths_relative_to_the_mount(account: Account) -> None:
    system = account.file_system("demo-fsx")
    account.associate(system, "/data", "s3://data/a")
    account.associate(system, "/models/", "s3://data/b")
    account.associate(system, "/cache", "s3://public/c", export=False)
    account.export(discard_unexported=True)
    assert next(iter(fsx_tasks.TASKS.values()))["Paths"] == ["data", "models"]


def test_files_that_no_association_exports_are_not_lost_unasked(account: Account) -> None:
    partly = account.file_system("demo-fsx")
    account.associate(partly, "/data", "s3://data/a")
    scratch = account.file_system("demo-scratch")
    with pytest.raises(ConflictError) as refused:
        account.export()
    assert refused.value.details["problems"] == [
        f"file system {partly} (demo-fsx): nothing outside of /data is exported to S3 and would be lost."
        " Copy what you need, then allow the loss of the rest: discard_unexported",
        f"file system {scratch} (demo-scratch): nothing of it is exported to S3 and would be lost."
        " Copy what you need, then allow the loss of the rest: discard_unexported",
    ]
    assert fsx_tasks.TASKS == {}


@pytest.mark.parametrize("lifecycle", ["MISCONFIGURED", "FAILED", "CREATING"])
def test_an_association_that_does_not_work_is_refused_with_its_reason(account: Account, lifecycle: str) -> None:
    system = account.file_system("demo-fsx")
    failure = {"FailureDetails": {"Message": "Amazon FSx cannot access the S3 bucket."}}
    account.associate(system, "/", "s3://data/a", Lifecycle=lifecycle, **failure)
    with pytest.raises(
        ConflictError, match=f"is {lifecycle}: Amazon FSx cannot access the S3 bucket. Repair the bucket"
    ):
        account.export()
    assert fsx_tasks.TASKS == {}


def test_a_file_system_that_is_broken_is_refused(account: Account) -> None:
    system = account.file_system("demo-fsx", lifecycle="MISCONFIGURED")
    account.associate(system, "/", "s3://data/a")
    with pytest.raises(ConflictError, match=f"{system} \\(demo-fsx\\) is MISCONFIGURED"):
        account.export()


def test_files_that_failed_are_told_with_their_list(account: Account) -> None:
    system = account.file_system("demo-fsx", files="10", failing_files="3")
    account.associate(system, "/", "s3://data/a")
    with pytest.raises(
        ConflictError, match=r"3 files failed\. They are in s3://data/a/mlops-eks-export/task-"
    ) as refused:
        account.export()
    assert refused.value.details["failed_files"] == 3


def test_the_export_of_an_interrupted_run_is_followed(account: Account) -> None:
    system = account.file_system("demo-fsx")
    account.associate(system, "/", "s3://data/a")
    with pytest.raises(ConflictError, match=r"it goes on\. Run the same command again"):
        account.export(timeout=1.0)
    account.export()
    assert len(fsx_tasks.TASKS) == 1
    assert any("follows the export" in line for line in account.said)


def test_what_others_export_is_not_taken_for_ours(account: Account) -> None:
    system = account.file_system("demo-fsx")
    account.associate(system, "/", "s3://data/a")
    account.call(
        "fsx",
        "create_data_repository_task",
        FileSystemId=system,
        Type="EXPORT_TO_REPOSITORY",
        Report={"Enabled": False},
    )
    account.export()
    assert len(fsx_tasks.TASKS) == 2


def test_automatic_exports_are_waited_for(account: Account) -> None:
    system = account.file_system("demo-fsx")
    account.associate(system, "/", "s3://data/a")
    account.ages = [40.0, 55.0, 0.0]
    account.export()
    assert account.ages == []
    assert any("changes still wait for their automatic export" in line for line in account.said)


def test_automatic_exports_that_do_not_end_fail(account: Account) -> None:
    system = account.file_system("demo-fsx")
    account.associate(system, "/", "s3://data/a")
    account.ages = [600.0] * 1000
    with pytest.raises(ConflictError, match="the oldest for 10 min"):
        account.export(timeout=120.0)


def test_a_queue_that_may_not_be_looked_at_is_told(account: Account) -> None:
    system = account.file_system("demo-fsx")
    account.associate(system, "/", "s3://data/a")
    account.ages = [DeniedError("The identity needs the IAM action cloudwatch:GetMetricStatistics.")]
    assert account.export()["changed"]
    assert any("cloudwatch:GetMetricStatistics" in line for line in account.said)


def test_check_mode_only_tells(account: Account) -> None:
    system = account.file_system("demo-fsx")
    account.associate(system, "/", "s3://data/a")
    assert account.export(check=True) == {"changed": True, "exports": [{"file_system": system, "paths": ["/"]}]}
    assert fsx_tasks.TASKS == {}


def test_file_systems_of_others_and_those_that_go_are_left_alone(account: Account) -> None:
    account.file_system("other", cluster="other")
    account.file_system("demo-fsx", lifecycle="DELETING")
    assert account.export() == {"changed": False, "exports": []}
