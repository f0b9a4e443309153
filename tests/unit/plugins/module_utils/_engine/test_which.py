"""Which run is meant by a pipeline, and where it is when it is not where it was looked for."""

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
        (("b", "a", "a"), " But run digits is in a, b: say which by namespace (playbooks: -e kube_namespace=a)."),
        (tuple("abcdefg"), " But run digits is in a, b, c, d, e and 2 more: say which"),
    ],
)
def test_other_namespaces_are_named(namespaces: tuple[str, ...], said: str, serve: Serve) -> None:
    server, kube = serve(ledgers(*namespaces))
    assert elsewhere(kube, "digits").startswith(said)
    assert bool(elsewhere(kube, "digits")) == bool(said)
    assert server.requests[0].params == {"labelSelector": "mlops.eks/ledger=true,mlops.eks/release=digits"}


def test_who_may_not_look_elsewhere_is_told_nothing(serve: Serve) -> None:
    _, kube = serve(lambda exchange: exchange.reply({"message": "forbidden"}, status=403))
    assert elsewhere(kube, "digits") == ""


def params(kube: Kube, spec: dict[str, t.Any], **more: t.Any) -> dict[str, t.Any]:
    defaults = {name: option.get("default") for name, option in spec.items()}
    return {**defaults, "kubeconfig": kube.kubeconfig, "namespace": "team", "patience": 1.0, **more}


def test_the_table_of_no_runs_says_where_there_are_some(serve: Serve) -> None:
    _, kube = serve(ledgers("team-a"))
    found = run_info(params(kube, INFO, release="digits"))
    assert found["table"] == [
        "no run digits in namespace team. But run digits is in team-a: say which by namespace "
        "(playbooks: -e kube_namespace=team-a)."
    ]
    assert "no runs in namespace team. But there are runs in team-a:" in run_info(params(kube, INFO))["table"][0]


def test_a_stop_that_finds_nothing_says_where_it_is(serve: Serve, tmp_path: Path) -> None:
    _, kube = serve(ledgers("team-a"))
    with pytest.raises(AbsentError, match=r"But run digits is in team-a: say which by namespace"):
        run_stop(
            params(kube, STOP, release="digits", runs_dir=str(tmp_path)), cluster="c", check=True, say=lambda _: None
        )
    with pytest.raises(InvalidInputError, match="no run: set 'release', or 'pipeline'"):
        run_stop(params(kube, STOP), cluster="c", check=True, say=lambda _: None)


def test_a_user_is_whoever_typed_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_USER", raising=False)
    assert this_user()
    monkeypatch.setenv("SUDO_USER", "ada")
    assert this_user() == "ada"
