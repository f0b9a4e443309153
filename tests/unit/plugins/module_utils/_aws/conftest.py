"""An account to look into: moto, with quotas, prices and versions as AWS answers them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from urllib.request import Request, urlopen

import boto3
import pytest
from botocore.loaders import create_loader
from fakes.aws.answers import stack, usual
from fakes.aws.server import AwsServer

from ansible_collections.mlops.eks.plugins.module_utils._aws.preflight import preflight

Findings = dict[str, tuple[str, str]]
REGION = "us-west-2"


@pytest.fixture(scope="session")
def front() -> Iterator[AwsServer]:
    server = AwsServer()
    yield server
    server.close()


@pytest.fixture(autouse=True, scope="session")
def models() -> Iterator[None]:
    """Let all sessions read the models of the services only once; each would read megabytes of JSON again."""
    loader = create_loader()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.session.create_loader", lambda *_: loader)
        yield


@pytest.fixture
def account(front: AwsServer, monkeypatch: pytest.MonkeyPatch) -> AwsServer:
    """An empty account with generous quotas; the environment points to it."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", front.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    front.answers.clear()
    front.asked.clear()
    usual(front, now=datetime.now(UTC))
    return front


@pytest.fixture
def look(account: AwsServer) -> Callable[..., Findings]:
    """Make all checks and return level and text by name; a failure's details count as well as a result."""

    def run(given: dict[str, t.Any] | None = None, **params: t.Any) -> Findings:
        base = {"region": REGION, "profile": None, "pipelines": [], "others": [], "fail": False, "show": False}
        result = preflight({**base, "variables": given or stack(), **params})
        return {entry["name"]: (entry["level"], f"{entry['found']}. {entry['remedy']}") for entry in result["findings"]}

    return run


@pytest.fixture
def aws(account: AwsServer) -> Iterator[Callable[..., t.Any]]:
    """Return boto3's client of a service of that account, which is empty again afterwards."""
    yield lambda service, region=REGION: boto3.client(service, region_name=region)
    with urlopen(Request(f"{account.url}/moto-api/reset", method="POST")) as done:
        assert done.status == 200
