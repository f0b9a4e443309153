# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Secrets of a step: in a Secret of its own while it is installed, and nowhere else."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
import yaml
from moto.server import ThreadedMotoServer
from plays import ROOT, Play, helm_binary, until
from samples import GATE, JOB, SERVER, Json, gated, job, server
from space import Space

pytestmark = pytest.mark.cluster

TOKEN = "hf_CanaryInTheCoalMine42"
WIDE = "https://me:{{ .Values.hf_token }}@host/"
# Says what its environment holds in a form that no masking looks for.
TELL = 'printf %s "$HF_TOKEN" | rev; echo; printf %s "$URL" | rev; echo'


def told(recipe: Json, work: str = "process") -> Json:
    """Return a recipe of the reference system: it reads its token through a template."""
    env = [{"name": "HF_TOKEN", "value": "{{ .Values.hf_token }}"}, {"name": "URL", "value": WIDE}]
    return {**recipe, work: {**recipe[work], "env": env}}


def holding(space: Space) -> Iterator[str]:
    """Yield the objects of the namespace that hold the token, in whatever form Helm and Kubernetes keep it."""
    kinds = "secrets,configmaps,jobs,pods,events,leases,deployments,replicasets"
    for entry in json.loads(space.kubectl("get", kinds, "-o", "json"))["items"]:
        texts = [json.dumps(entry)]
        for value in (entry.get("data") or {}).values() if entry["kind"] == "Secret" else ():
            data = base64.b64decode(value)
            if entry["metadata"]["name"].startswith("sh.helm.release"):
                data = gzip.decompress(base64.b64decode(data))
            texts.append(data.decode(errors="replace"))
        if any(TOKEN in text or base64.b64encode(TOKEN.encode()).decode() in text for text in texts):
            yield f"{entry['kind']}/{entry['metadata']['name']}"


def files_with_it(directory: Path) -> list[str]:
    """Return the files below a directory that hold the token; packages are not looked into, they hold charts."""
    return [str(path) for path in directory.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


def start(space: Space, pipeline: Path, *arguments: str, token: str = TOKEN) -> Play:
    return space.start("train", "-vvv", "--diff", *arguments, pipeline=pipeline, recipe_values={"hf_token": token})


def test_a_step_has_its_secret_and_nothing_else_holds_it(space: Space) -> None:
    pipeline = space.pipeline(train=told(job(TELL, GATE)))
    predicted = start(space, pipeline, "--check").end()
    assert space.names("secrets") == []
    play = start(space, pipeline)
    until(lambda: space.get("pods", "--field-selector", "status.phase=Running"), "the pod runs")
    assert list(holding(space)) == ["Secret/run-secrets"]
    (secret,) = [one for one in space.get("secrets") if one["metadata"]["name"] == "run-secrets"]
    assert secret["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "mlops.eks", "used-by.mlops.eks/run": "run"}
    space.open_gate()
    shown = play.end()
    assert space.log("train")[:2] == [TOKEN[::-1], f"https://me:{TOKEN}@host/"[::-1]]
    assert space.names("secrets") == []
    assert TOKEN not in predicted + shown
    assert files_with_it(space.runs) == []
    # A new token is no reason to do it again.
    assert "skipped: identical step" in start(space, pipeline, token="hf_another_token").end()


def test_a_run_repeated_from_its_evidence_asks_for_the_secret(space: Space) -> None:
    start(space, space.pipeline(train=told(job(TELL)))).end()
    evidence = space.evidence("train").parent
    refused = space.play("train", pipeline=evidence, force=True, rc=2)
    assert "hf_token: refers to Secret run-secrets, which a step makes from its values" in refused
    space.play("train", pipeline=evidence, force=True, recipe_values={"hf_token": TOKEN})
    assert space.log("train")[0] == TOKEN[::-1]


def test_a_controller_killed_before_helm_leaves_nothing_that_is_not_found(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the Secret and Helm: the next run goes on from there, and so does a stop."""
    here, helm = space.directory / "helm-is-here", space.directory / "helm"
    halt = f'if [ "$1" = install ] && [ ! -e {here} ]; then touch {here}; exec sleep 600; fi'
    helm.write_text(f'#!/bin/bash\n{halt}\nexec {helm_binary()} "$@"\n', encoding="utf-8")
    helm.chmod(0o755)
    monkeypatch.setenv("MLOPS_EKS_HELM", str(helm))
    pipeline = space.pipeline(train=told(job(TELL)))
    for _ in range(2):
        here.unlink(missing_ok=True)
        play = start(space, pipeline)
        until(here.exists, "Helm is called")
        play.kill()
        assert (space.names("secrets"), space.ledger()["train"]["outcome"]) == (["run-secrets"], "running")
    space.play("stop", release="run")
    assert space.names("secrets") == []
    start(space, pipeline).end()
    assert (space.log("train")[0], space.names("secrets")) == (TOKEN[::-1], [])
    assert files_with_it(space.runs) == []


def test_a_failed_step_and_a_stopped_one_take_their_secret_with_them(space: Space) -> None:
    start(space, space.pipeline(train=told(job(TELL, "exit 3")))).end(2)
    assert space.names("secrets") == []
    play = start(space, space.pipeline("other", train=told(gated())))
    play.shows("tick 1")
    assert "other-secrets" in space.names("secrets")
    space.play("stop", release="other")
    play.end(2)
    assert space.names("secrets") == []
    assert files_with_it(space.runs) == []


def test_a_secret_of_somebody_else_is_refused_and_not_changed(space: Space) -> None:
    space.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "run-secrets"}, "stringData": {"a": "b"}})
    (before,) = space.get("secrets")
    refused = start(space, space.pipeline(train=told(job(TELL)))).end(2)
    assert "Secret run-secrets in namespace" in refused
    assert "it exists and was not made by this collection" in refused
    assert space.get("secrets") == [before]
    assert space.ledger() == {}


def test_a_server_keeps_its_secret_while_it_serves(space: Space) -> None:
    recipe = told(server("here"), "server")
    pipeline = space.pipeline_of("run", [{"name": "serve", "chart": SERVER, "recipe": "s.yaml"}], {"s": recipe})
    start(space, pipeline).end()
    assert list(holding(space)) == ["Secret/run-serve-secrets"]
    (pod,) = space.names("pods")
    shown = start(space, pipeline, token="hf_renewed_token").end()
    assert "Secret run-serve-secrets: has new content, which containers read when they start." in shown
    # It is not restarted unasked.
    assert (space.names("pods"), list(holding(space))) == ([pod], [])
    space.play("stop", release="run")
    assert space.names("secrets") == []


def test_an_upgrade_that_fails_gives_the_server_its_token_back(space: Space) -> None:
    steps = [{"name": "serve", "chart": SERVER, "recipe": "serve.yaml", "image_pull_grace": 1}]
    recipe = told(server("here"), "server")
    start(space, space.pipeline_of("run", steps, {"serve": recipe})).end()
    broken = {**recipe, "image": {"name": "localhost/mlops-eks/none:1"}}
    shown = start(space, space.pipeline_of("run", steps, {"serve": broken}), token="hf_renewed_token").end(2)
    assert "going back to revision 1, which was ready" in shown
    (secret,) = [one for one in space.get("secrets") if one["metadata"]["name"] == "run-serve-secrets"]
    assert secret["data"] == {"hf_token": base64.b64encode(TOKEN.encode()).decode()}
    space.play("stop", release="run")
    assert space.names("secrets") == []


def test_by_hand_a_recipe_is_installed_as_in_the_reference(space: Space) -> None:
    file = space.directory / "by-hand.yaml"
    file.write_text(json.dumps(told(job(TELL), "process") | {"hf_token": TOKEN}), encoding="utf-8")
    command = [helm_binary(), "install", "hand", str(ROOT / "charts" / JOB), "--values", str(file)]
    where = ["--kubeconfig", space.kubeconfig, "--namespace", space.namespace]
    subprocess.run([*command, *where], check=True, capture_output=True)
    (made,) = space.get("jobs")
    env = made["spec"]["template"]["spec"]["containers"][0]["env"]
    run, *given = env
    assert run == {"name": "RUN_NAME", "value": "hand"}
    assert given == [{"name": "HF_TOKEN", "value": TOKEN}, {"name": "URL", "value": f"https://me:{TOKEN}@host/"}]


# -- declared by the pipeline


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """AWS, played by moto, with a secret and a parameter."""
    moto = ThreadedMotoServer(port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-west-2",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    boto3.client("secretsmanager").create_secret(Name="prod/hf", SecretString=json.dumps({"token": f"{TOKEN}-manager"}))
    boto3.client("ssm").put_parameter(Name="/prod/hf", Value=f"{TOKEN}-ssm", Type="SecureString")
    yield
    moto.stop()


def declaring(space: Space, secrets: list[Json], **recipes: Json) -> Path:
    """Write a pipeline that declares secrets."""
    where = space.pipeline(**recipes)
    document = yaml.safe_load((where / "pipeline.yaml").read_text())
    (where / "pipeline.yaml").write_text(yaml.safe_dump({**document, "secrets": secrets}), encoding="utf-8")
    return where


def using(recipe: Json, *keys: str, name: str = "run-tokens") -> Json:
    """Return a recipe whose environment has keys of a Secret."""
    env = [{"name": key.upper(), "valueFrom": {"secretKeyRef": {"name": name, "key": key}}} for key in keys]
    return {**recipe, "process": {**recipe["process"], "env": env}}


@pytest.mark.usefixtures("aws")
def test_a_pipeline_brings_its_secrets_along(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", f"{TOKEN}-env")
    origins = {
        "env": {"env": "HF_TOKEN"},
        "variable": {"variable": "my_token"},
        "lookup": {"lookup": "ansible.builtin.env", "terms": ["HF_TOKEN"]},
        "manager": {"aws_secret": "prod/hf", "key": "token"},
        "ssm": {"ssm_parameter": "/prod/hf"},
    }
    tell = "; ".join(f'printf %s "${key.upper()}" | rev; echo' for key in origins)
    recipe = using(job(tell, GATE), *origins)
    pipeline = declaring(space, [{"name": "run-tokens", "data": origins}], first=job("echo a"), train=recipe)
    play = space.start("train", "-vvv", "--diff", pipeline=pipeline, my_token=f"{TOKEN}-variable")
    until(lambda: space.get("pods", "-l", "app.kubernetes.io/instance=run"), "the second step runs")
    space.open_gate()
    shown = play.end()
    values = [*(f"{TOKEN}-{key}" for key in ("env", "variable", "env", "manager", "ssm"))]
    assert space.log("train")[:5] == [value[::-1] for value in values]
    assert space.names("secrets") == []
    assert TOKEN not in shown
    assert files_with_it(space.runs) == []
    # What repeats the run knows where its secrets come from.
    again = yaml.safe_load((space.evidence("train").parent / "pipeline.yaml").read_text())
    assert again["secrets"] == [{"name": "run-tokens", "data": origins}]


def test_what_is_declared_and_not_there_is_told_before_the_first_step(space: Space) -> None:
    first, last = job("echo a"), using(job("echo b"), "token")
    pipeline = declaring(space, [{"name": "run-tokens", "data": {"token": {"variable": "none"}}}], a=first, b=last)
    refused = space.play("train", rc=2, pipeline=pipeline)
    assert "secrets: Secret run-tokens, key token: variable none is not defined for this host" in refused
    assert "Traceback" not in refused
    pipeline = declaring(space, [{"name": "run-tokens", "keys": ["token"]}], a=first, b=last)
    refused = space.play("train", rc=2, pipeline=pipeline)
    assert "secrets: Secret run-tokens with token is not in namespace" in refused
    assert (space.ledger(), space.pods_ever()) == ({}, set())
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "run-tokens"}, "stringData": {"token": "x"}}
    space.apply(secret)
    (before,) = space.get("secrets")
    space.play("train", pipeline=pipeline)
    # One of somebody else is used where the pipeline says so, and otherwise refused; it stays as it is.
    data = {"token": {"variable": "mine"}}
    pipeline = declaring(space, [{"name": "run-tokens", "data": data}], a=first, b=last)
    refused = space.play("train", rc=2, pipeline=pipeline, force=True, mine=TOKEN)
    assert "Secret run-tokens in namespace" in refused
    assert "was not made by this collection" in refused
    assert space.get("secrets") == [before]


def test_the_secrets_of_a_killed_controller_are_removed_by_a_stop(space: Space) -> None:
    data = {"token": {"variable": "mine"}}
    pipeline = declaring(space, [{"name": "run-tokens", "data": data}], train=using(gated(), "token"))
    play = space.start("train", pipeline=pipeline, mine=TOKEN)
    play.shows("tick 1")
    play.kill()
    assert list(holding(space)) == ["Secret/run-tokens"]
    # Another controller, which cannot have the secret, goes on with what is there.
    second = space.start("train", pipeline=pipeline)
    second.shows("What is installed goes on with its Secrets as they are.")
    second.kill()
    space.play("stop", release="run")
    assert space.names("secrets") == []
    assert files_with_it(space.runs) == []
