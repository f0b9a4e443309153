from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._aws.clusters import Found, Place, find_clusters, has_tags
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError

Ask = Callable[[Answer], Found]


@pytest.fixture(autouse=True)
def credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of nobody, and no way to find others."""
    for key in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    (tmp_path / "config").write_text(
        "[profile ml]\nregion = eu-west-1\naws_access_key_id = testing\naws_secret_access_key = testing\n"
    )


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Ask a server that answers as the test says."""
    servers: list[Server] = []

    def begin(answer: Answer) -> Found:
        servers.append(Server(answer))
        monkeypatch.setenv("AWS_ENDPOINT_URL", servers[-1].url)
        return find_clusters([Place("ml", "us-west-2")])

    yield begin
    for server in servers:
        server.close()


# Error responses: "Amazon EKS API reference, Common errors"; their type is a header of the REST JSON protocol.
@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        (
            "ExpiredTokenException",
            403,
            "AWS does not accept the credentials (ExpiredTokenException: The answer of AWS.)",
        ),
        ("UnrecognizedClientException", 403, "AWS does not accept the credentials (UnrecognizedClientException"),
        (
            "AccessDeniedException",
            403,
            "eks list_clusters in us-west-2: not allowed. The identity needs",
        ),
        ("ClientException", 400, "eks list_clusters in us-west-2: ClientException: The answer"),
    ],
)
def test_what_aws_refuses_is_one_line_with_its_remedy(code: str, status: int, said: str, ask: Ask) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.reply({"message": "The answer of AWS."}, status, x_amzn_errortype=code)

    (refused,) = ask(answer).refused
    assert refused.sentence().startswith(f"profile ml, us-west-2: {said}")
    assert "\n" not in refused.sentence()
    assert ("Or the region is not enabled" in refused.sentence()) is (code == "UnrecognizedClientException")


def test_a_cluster_that_goes_while_it_is_asked_for_is_left_out(ask: Ask) -> None:
    def answer(exchange: Exchange) -> None:
        if exchange.path == "/clusters":
            exchange.reply({"clusters": ["gone", "here"]})
        elif exchange.path == "/clusters/here":
            exchange.reply(
                {"cluster": {"name": "here", "status": "CREATING", "arn": "arn:aws:eks:r:1234:cluster/here"}}
            )
        else:
            exchange.reply({"message": "no"}, 404, x_amzn_errortype="ResourceNotFoundException")

    (cluster,) = ask(answer).clusters
    assert (cluster["cluster_name"], cluster["region"], cluster["aws_profile"]) == ("here", "us-west-2", "ml")
    # It is still being made.
    assert (cluster["cluster_endpoint"], cluster["cluster_tags"], cluster["cluster_auto_mode"]) == ("", {}, False)
    assert cluster["aws_account_id"] == "1234"


def test_no_credentials_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    (refused,) = find_clusters([Place(None, "us-west-2")]).refused
    assert refused.sentence().startswith("default credentials, us-west-2: no usable AWS credentials: ")


def test_a_profile_that_is_not_there_is_refused() -> None:
    for region in ("us-west-2", ""):
        (refused,) = find_clusters([Place("nope", region)]).refused
        assert "The config profile (nope) could not be found. Name a profile" in refused.sentence()


def test_no_region_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="regions: none is given, and the environment has none of its own"):
        find_clusters([Place(None, "")])


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ({}, True),
        ({"team": "ml"}, True),
        ({"team": "ml", "size": 3}, True),
        ({"team": ["web", "ml"]}, True),
        ({"team": "web"}, False),
        ({"owner": "ml"}, False),
        ({"team": []}, False),
    ],
)
def test_tags_choose(wanted: dict[str, object], chosen: bool) -> None:
    assert has_tags({"cluster_tags": {"team": "ml", "size": "3"}}, wanted) is chosen
