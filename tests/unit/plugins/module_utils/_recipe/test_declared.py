"""Secrets that a pipeline declares: where they come from is read, what they are is never shown."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._recipe.declared_secrets import (
    SOURCES,
    DeclaredSecret,
    DeclaredSecrets,
    declared_secrets,
)
from ansible_collections.mlops.eks.plugins.module_utils._recipe.pipeline import read
from ansible_collections.mlops.eks.plugins.module_utils._recipe.source import Source

HF = {"name": "hf", "data": {"token": {"env": "HF_TOKEN"}}}


def parse(*secrets: t.Any, text: bool = False) -> tuple[DeclaredSecret, ...]:
    return declared_secrets(Source(name="x.yaml", data={"secrets": list(secrets)}), text=text)


@pytest.mark.parametrize(
    "origin",
    [
        {"env": "HF_TOKEN"},
        {"variable": "hf_token"},
        {"lookup": "community.hashi_vault.hashi_vault", "terms": ["secret/hf:token"], "options": {"url": "https://v"}},
        {"aws_secret": "prod/hf", "key": "token", "region": "us-west-2"},
        {"ssm_parameter": "/prod/hf"},
    ],
)
def test_every_source_is_read_and_said_again(origin: dict[str, t.Any]) -> None:
    secret = {"name": "hf", "type": "kubernetes.io/tls", "data": {"tls.key": origin}}
    (found,) = parse(secret)
    assert found.to_document() == secret
    assert not found.is_plain
    assert next(word for word in SOURCES if word in origin)


def test_an_existing_secret_is_declared_by_its_keys() -> None:
    (found,) = parse({"name": "hf", "keys": ["token"]})
    assert (found.to_document(), found.data) == ({"name": "hf", "keys": ["token"]}, {})


def test_a_task_may_contain_the_secret_text() -> None:
    (found,) = parse({"name": "hf", "type": None, "keys": None, "data": {"token": "hunter22"}}, text=True)
    assert found.is_plain
    assert "hunter22" not in repr(found)
    assert DeclaredSecrets(entries=(found,)).content(found) == {"token": "hunter22"}


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        ("hunter22", "a secret must be a mapping with name and data"),
        ({"data": {}}, "missing 'name'"),
        ({"name": "HF"}, "name 'HF': expected"),
        ({"name": "hf"}, "Secret hf: set data"),
        ({**HF, "keys": ["token"]}, "Secret hf: set data"),
        ({"name": "hf", "keys": ["a b"]}, "key 'a b': expected"),
        ({"name": "hf", "data": "hunter22"}, "data: expected a mapping"),
        ({"name": "hf", "data": {"token": "hunter22"}}, "token: give the source of the secret, not the secret"),
        ({"name": "hf", "data": {"token": {"envv": "hunter22"}}}, "Did you mean 'env'?"),
        ({"name": "hf", "data": {"token": {}}}, "token: expected one of variable, env"),
        ({"name": "hf", "data": {"token": {"env": "A", "variable": "b"}}}, "token: expected one of variable, env"),
        ({"name": "hf", "data": {"token": {"env": "A", "key": "b"}}}, "unknown key 'key'"),
        ({"name": "hf", "data": {"a/b": {"env": "A"}}}, "key 'a/b': expected"),
        ({"name": "hf", "data": {"token": {"ssm_parameter": "a", "region": "here"}}}, "region 'here': expected"),
        ({**HF, "date": {}}, "unknown key 'date'. Did you mean 'data'?"),
    ],
)
def test_error_messages_do_not_show_the_secret(secret: t.Any, words: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(secret)
    assert words in str(caught.value)
    assert str(caught.value).startswith("x.yaml")
    assert "hunter22" not in str(caught.value)


def test_a_name_is_declared_once() -> None:
    with pytest.raises(InvalidInputError, match="Secret 'hf' is declared twice"):
        parse(HF, HF)


def test_a_pipeline_says_where_a_mistake_is(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.yaml"
    steps = "name: x\nsteps:\n  - {name: a, chart: data-prep/data-process}\n"
    text = f"{steps}secrets:\n  - name: hf\n    data:\n      token: "
    file.write_text(f"{text}hunter22\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"pipeline.yaml:7: token: give the source of the secret"):
        read(tmp_path)
    file.write_text(f"{text}{{env: HF_TOKEN}}\n", encoding="utf-8")
    assert read(tmp_path).to_result()["secrets"] == [HF]


def test_content_is_asked_for_once_and_learnt() -> None:
    asked, learnt = list[t.Any](), list[str]()

    def resolve(origin: t.Any) -> str:
        asked.append(origin)
        return "hunter22"

    (hf,) = parse(HF)
    known = DeclaredSecrets(entries=(hf,), resolve=resolve, learn=learnt.append)
    assert known.content(hf) == known.content(hf) == {"token": "hunter22"}
    assert (asked, learnt) == ([{"env": "HF_TOKEN"}], ["hunter22"])


@pytest.mark.parametrize(
    ("resolve", "words"),
    [({}, "can only be read on the controller"), ({"resolve": lambda _: ""}, "{'env': 'HF_TOKEN'} is empty")],
)
def test_content_that_cannot_be_had(resolve: dict[str, t.Any], words: str) -> None:
    (hf,) = parse(HF)
    with pytest.raises(InvalidInputError) as caught:
        DeclaredSecrets(entries=(hf,), **resolve).content(hf)
    assert str(caught.value).startswith("secrets: Secret hf, key token: ")
    assert words in str(caught.value)
