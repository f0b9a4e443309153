"""The run of a pipeline, and the namespaces that a message names when the run is not found."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.http import Answer, Exchange, Server

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, InvalidInputError
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import run_info, run_stop
from ansible_collections.mlops.eks.plugins.module_utils._engine.status import elsewhere, run_params
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Kube
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import this_user
from ansible_collections.mlops.eks.plugins.modules.run_info import ARGUMENT_SPEC as INFO
from ansible_collections.mlops.eks.plugins.modules.run_stop import ARGUMENT_SPEC as STOP

Serve = Callable[[Answer], tuple[Server, Kube]]
PIPELINE = "name: digits\nnamespace: team-a\nsteps: [{name: train, chart: data-prep/data-process}]\n"


@pytest.mark.parametrize(
    ("given", "release", "namespace"),
    [
        ({}, "digits", "team-a"),
        ({"release": "mine"}, "mine", "team-a"),
        ({"namespace": "other"}, "digits", "other"),
        ({"pipeline": None, "release": "mine"}, "mine", None),
    ],
)
def test_a_pipeline_names_release_and_namespace_where_the_task_does_not(
    given: dict[str, t.Any], release: str, namespace: str | None, tmp_path: Path
) -> None:
    (tmp_path / "pipeline.yaml").write_text(PIPELINE, encoding="utf-8")
    found = run_params({"pipeline": str(tmp_path), "release": None, "namespace": None, **given})
    assert (found["release"], found["namespace"]) == (release, namespace)


def ledgers(*namespaces: str) -> Answer:
    """Answer with a ledger in each namespace to who asks for all, and with nothing to who asks for one."""

    def answer(exchange: Exchange) -> None:
        items = [{"metadata": {"namespace": one}} for one in namespaces] if exchange.path.count("/") == 3 else []
        if exchange.path.startswith("/api/v1/namespaces/team/") and exchange.method == "GET" and not exchange.params:
            return exchange.reply({"message": "not found"}, status=404)
        return exchange.reply({"items": items})

    return answer


@pytest.mark.parametrize(
    ("namespaces", "said"),
    [
        ((), ""),
        (("team",), ""),
        (("b", "a", "a"), " But run digits is in a, b: set the namespace (playbooks: -e kube_namespace=a)."),
        (tuple("abcdefg"), " But run digits is in a, b, c, d, e and 2 more: set the namespace"),
    ],
)
def test_other_namespaces_are_named(namespaces: tuple[str, ...], said: str, serve: Serve) -> None:
    server, kube = serve(ledgers(*namespaces))
    assert elsewhere(kube, "digits").startswith(said)
    assert bool(elsewhere(kube, "digits")) == bool(said)
    assert server.requests[0].params == {"labelSelector": "mlops.eks/ledger=true,mlops.eks/release=digits"}


def test_without_the_right_to_list_other_namespaces_none_is_named(serve: Serve) -> None:
    _, kube = serve(lambda exchange: exchange.reply({"message": "forbidden"}, status=403))
    assert elsewhere(kube, "digits") == ""


def params(kube: Kube, spec: dict[str, t.Any], **more: t.Any) -> dict[str, t.Any]:
    defaults = {name: option.get("default") for name, option in spec.items()}
    return {**defaults, "kubeconfig": kube.kubeconfig, "namespace": "team", "api_retry_timeout": 1.0, **more}


def test_an_empty_table_names_the_namespaces_with_runs(serve: Serve) -> None:
    _, kube = serve(ledgers("team-a"))
    found = run_info(params(kube, INFO, release="digits"))
    assert found["table"] == [
        "no run digits in namespace team. But run digits is in team-a: set the namespace "
        "(playbooks: -e kube_namespace=team-a)."
    ]
    assert "no runs in namespace team. But there are runs in team-a:" in run_info(params(kube, INFO))["table"][0]


def test_a_stop_that_finds_nothing_names_the_namespaces_of_the_run(serve: Serve, tmp_path: Path) -> None:
    _, kube = serve(ledgers("team-a"))
    with pytest.raises(AbsentError, match=r"But run digits is in team-a: set the namespace"):
        run_stop(
            params(kube, STOP, release="digits", runs_dir=str(tmp_path)), cluster="c", check=True, say=lambda _: None
        )
    with pytest.raises(InvalidInputError, match="no run to stop: set 'release' to its name"):
        run_stop(params(kube, STOP), cluster="c", check=True, say=lambda _: None)


def test_the_user_is_the_one_who_called_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_USER", raising=False)
    assert this_user()
    monkeypatch.setenv("SUDO_USER", "ada")
    assert this_user() == "ada"
