"""Secrets got from variables and from AWS as moto answers it; with lookups: tests/cluster/test_run_secrets_real.py."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import boto3
import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from moto import mock_aws

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AwsError, EksError, InvalidInputError
from ansible_collections.mlops.eks.plugins.plugin_utils.secret_sources import SecretSources

VARIABLES = {
    "hf_token": trust_as_template("{{ vaulted }}"),
    "vaulted": "hunter22",
    "broken": trust_as_template("{{ vaulted | nothing }}"),
    "count": 5,
    "region": "us-west-2",
}


@pytest.fixture
def sources() -> SecretSources:
    loader = DataLoader()
    return SecretSources(VARIABLES, loader=loader, templar=Templar(loader=loader, variables=dict(VARIABLES)))


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        manager = boto3.client("secretsmanager", "us-west-2")
        manager.create_secret(Name="prod/hf", SecretString='{"token": "hunter23", "tries": 3}')
        manager.create_secret(Name="plain", SecretString="hunter24")
        manager.create_secret(Name="bytes", SecretBinary=b"hunter25")
        manager.create_secret(Name="image", SecretBinary=b"\xff\xfe")
        boto3.client("secretsmanager", "eu-west-1").create_secret(Name="far", SecretString="hunter26")
        ssm = boto3.client("ssm", "us-west-2")
        ssm.put_parameter(Name="/prod/hf", Value="hunter27", Type="SecureString")
        yield


def test_variables_and_the_environment(sources: SecretSources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hunter21")
    assert sources({"env": "HF_TOKEN"}) == "hunter21"
    assert sources({"variable": "hf_token"}) == "hunter22"
    assert type(sources({"variable": "hf_token"})) is str


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ({"env": "NOT_SET_HERE"}, "environment variable NOT_SET_HERE is not set"),
        ({"variable": "nothing"}, "variable nothing is not defined for this host"),
        ({"variable": "count"}, "variable count is not text"),
        ({"lookup": "team.none.such", "terms": []}, "lookup team.none.such: "),
        ({"variable": "broken"}, "variable broken: "),
    ],
)
def test_what_is_not_there_is_told_in_one_line(sources: SecretSources, origin: dict[str, t.Any], words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        sources(origin)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("origin", "secret"),
    [
        ({"aws_secret": "prod/hf", "key": "token"}, "hunter23"),
        ({"aws_secret": "plain"}, "hunter24"),
        ({"aws_secret": "bytes"}, "hunter25"),
        ({"aws_secret": "far", "region": "eu-west-1"}, "hunter26"),
        ({"ssm_parameter": "/prod/hf"}, "hunter27"),
    ],
)
def test_aws_is_asked_where_the_cluster_is(sources: SecretSources, origin: dict[str, t.Any], secret: str) -> None:
    assert sources(origin) == secret


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("origin", "error", "words"),
    [
        ({"aws_secret": "none"}, AwsError, "secretsmanager get_secret_value in us-west-2: ResourceNotFound"),
        ({"ssm_parameter": "none"}, AwsError, "ssm get_parameter in us-west-2: ParameterNotFound"),
        ({"aws_secret": "prod/hf", "key": "other"}, InvalidInputError, "has no key 'other'. It has token, tries."),
        ({"aws_secret": "prod/hf", "key": "tries"}, InvalidInputError, "aws_secret prod/hf is not text"),
        ({"aws_secret": "plain", "key": "token"}, InvalidInputError, "aws_secret plain is not JSON with keys"),
        ({"aws_secret": "image", "key": "token"}, InvalidInputError, "aws_secret image is not JSON with keys"),
        ({"aws_secret": "image"}, InvalidInputError, "aws_secret image is not text"),
    ],
)
def test_errors_of_aws_are_one_line(
    sources: SecretSources, origin: dict[str, t.Any], error: type[EksError], words: str
) -> None:
    with pytest.raises(error) as caught:
        sources(origin)
    assert words in str(caught.value)
    assert "hunter" not in str(caught.value)


@pytest.mark.usefixtures("aws")
def test_without_a_region_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/not/there")
    loader = DataLoader()
    sources = SecretSources({}, loader=loader, templar=Templar(loader=loader))
    with pytest.raises(InvalidInputError, match="no AWS region: set 'region'"):
        sources({"ssm_parameter": "/prod/hf"})
