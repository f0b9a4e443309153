from __future__ import annotations

import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    CommandError,
    ConflictError,
    CredentialsError,
    DeniedError,
    EksError,
    InvalidInputError,
)
from ansible_collections.mlops.eks.plugins.module_utils._terraform import diagnostics
from ansible_collections.mlops.eks.plugins.module_utils._terraform.diagnostics import ExistsError
from ansible_collections.mlops.eks.plugins.module_utils._terraform.events import Event

Recorded = Callable[[str], list[Event]]
WORK, SOURCE, RUN = Path("/data/tree/stacks/cluster"), Path("/terraform/stacks/cluster"), Path("/data/run")


def explained(events: list[Event]) -> EksError:
    return diagnostics.explain("train: terraform apply", diagnostics.gather(events, WORK, SOURCE), [], RUN)


def problem(summary: str, detail: str = "", **more: t.Any) -> Event:
    return {"type": "diagnostic", "diagnostic": {"severity": "error", "summary": summary, "detail": detail, **more}}


def test_a_failed_resource_is_named_with_file_and_line(recorded: Recorded) -> None:
    error = explained(recorded("apply-failed"))
    assert str(error) == (
        "train: terraform apply: terraform_data.cluster: local-exec provisioner error: Error running command"
        " 'echo no; exit 3': exit status 3 (/terraform/stacks/cluster/main.tf:20)."
    )
    assert error.details["diagnostics"][0]["address"] == "terraform_data.cluster"


def test_what_only_follows_is_not_counted(recorded: Recorded) -> None:
    error = explained(recorded("apply-interrupted"))
    assert "more error" not in str(error)
    assert len(error.details["diagnostics"]) == 1


def test_a_refused_variable_is_told_in_the_words_of_its_validation(recorded: Recorded) -> None:
    error = explained(recorded("plan-invalid"))
    assert isinstance(error, InvalidInputError)
    assert "Invalid value for variable: size is 0: give at least 1" in str(error)


def test_a_value_from_the_file_of_variables_is_named_by_its_key() -> None:
    place = {"filename": "/data/variables.tfvars.json", "start": {"line": 7}}
    event = problem("Invalid value for variable", "too long.", range=place, snippet={"code": ' "cluster_name": "x"'})
    assert str(explained([event])).endswith("too long (variables.cluster_name).")


def test_a_value_that_opentofu_places_at_its_declaration_is_named_by_its_key() -> None:
    detail = "The given value is not suitable for var.size declared at main.tf:2,1-16: a number is required."
    place = {"filename": "main.tf", "start": {"line": 2}}
    event = problem("Invalid value for input variable", detail, range=place)
    assert str(explained([event])).endswith("a number is required (variables.size).")


def test_a_file_outside_of_the_stack_keeps_its_name() -> None:
    for name, shown in {"main.tf": "/terraform/stacks/cluster/main.tf:3", "/m/efs/main.tf": "/m/efs/main.tf:3"}.items():
        place = {"filename": name, "start": {"line": 3}}
        assert str(explained([problem("Bad", range=place)])).endswith(f"Bad ({shown}).")


# Texts of AWS as its provider and its S3 backend report them: hashicorp/terraform#33264, #36395 (expired token),
# windsorcli/cli#3307 (name taken); the others by the error codes of the services' API references.
@pytest.mark.parametrize(
    ("summary", "kind", "words"),
    [
        ("ExpiredToken: The provided token has expired.", CredentialsError, "log in again"),
        (
            "creating EKS Cluster (x): operation error EKS: CreateCluster, https response error StatusCode: 403,"
            " RequestID: 7f3a, api error ExpiredTokenException: The security token included in the request is expired",
            CredentialsError,
            "log in again",
        ),
        ("No valid credential sources found", CredentialsError, "set AWS_PROFILE"),
        ("api error UnrecognizedClientException: The security token is invalid", CredentialsError, "region is enabled"),
        ("api error UnauthorizedOperation: You are not authorized", DeniedError, "lacks this permission"),
        ("api error VcpuLimitExceeded: You have requested more vCPU", CommandError, "higher quota"),
        ("Failed to persist state to backend", CommandError, "the next run writes it first"),
        (
            "creating EKS Cluster (c): operation error EKS: CreateCluster, https response error StatusCode: 409,"
            " ResourceInUseException: Cluster already exists with name: c",
            ExistsError,
            "take it over: /data/run import aws_eks_cluster.this ID.",
        ),
        (
            "creating EC2 Subnet: operation error EC2: CreateSubnet, https response error StatusCode: 400,"
            " RequestID: 7f, api error InvalidSubnet.Conflict: The CIDR '10.0.0.0/24' conflicts with another subnet",
            ExistsError,
            "by a run that was killed in the middle",
        ),
        ("Saved plan is stale", ConflictError, "run the same command again"),
        ("Backend configuration changed", InvalidInputError, "'/data/run init -migrate-state'"),
        ("Inconsistent dependency lock file", InvalidInputError, "lock file of the stack"),
        ("Incompatible module", InvalidInputError, ""),
        ("Failed to query available provider packages", CommandError, "TF_CLI_CONFIG_FILE"),
        ("Something new", CommandError, ""),
    ],
)
def test_each_known_problem_has_its_remedy(summary: str, kind: type[EksError], words: str) -> None:
    error = explained(
        [problem("first"), problem(summary, address="aws_eks_cluster.this")] if words else [problem(summary)]
    )
    assert type(error) is kind
    assert words in str(error)
    assert "RequestID" not in str(error)
    assert "\n" not in str(error)
    if words:
        assert str(error).startswith("train: terraform apply: aws_eks_cluster.this: ")
        assert "(and 1 more error)" in str(error)


def test_a_permission_that_is_lacking_is_named() -> None:
    said = "AccessDenied: User: arn:aws:iam::123456789012:user/x is not authorized to perform: iam:CreateRole on ..."
    assert explained([problem(said)]).details["action"] == "iam:CreateRole"


def test_a_link_to_documentation_is_not_a_reason() -> None:
    # The AWS provider 5.100 without credentials.
    detail = "Please see https://registry.terraform.io/providers/hashicorp/aws\nfor more information.\n\nError: ..."
    assert str(explained([problem("No valid credential sources found", detail)])) == (
        "train: terraform apply: No valid credential sources found."
        " There are no credentials for AWS: set AWS_PROFILE, or log in (aws sso login)."
    )


def test_warnings_are_no_reason() -> None:
    warning = problem("Value for undeclared variable")
    warning["diagnostic"]["severity"] = "warning"
    assert str(explained([warning])) == "train: terraform apply: it printed no reason"


def test_a_crash_is_reported_with_its_last_lines() -> None:
    error = diagnostics.explain("train: terraform apply", [], ["panic: nil", "", "goroutine 1"], RUN)
    assert str(error) == "train: terraform apply: goroutine 1"


def test_a_framed_error_is_told_without_its_frame() -> None:
    text = [
        "aws_route.out: Importing from ID...",
        "╷",
        "│ Error: unexpected format for ID (r-1)",
        "│ ",
        "│ with x,",
        "╵",
    ]
    error = diagnostics.explain("train: terraform import", [], text, RUN)
    assert str(error) == "train: terraform import: Error: unexpected format for ID (r-1)"


def test_the_same_problem_is_told_once() -> None:
    assert len(diagnostics.gather([problem("x"), problem("x")], WORK, SOURCE)) == 1
