"""The modules as Ansible starts them over a connection that is not local: arguments in, one JSON document out."""

from __future__ import annotations

import importlib
import json
import typing as t
from pathlib import Path

import pytest
from ansible.module_utils.testing import patch_module_args

ROOT = Path(__file__).resolve().parents[4]
# Module: arguments that it must refuse, and words of what it says.
REFUSED: dict[str, tuple[dict[str, t.Any], str]] = {
    "helm_step": ({"release": "r", "chart": "no/such", "kubeconfig": "KUBECONFIG"}, "not in the catalogue"),
    "mpi_job_wait": ({"name": "x", "kubeconfig": "/no/such/file"}, "kubeconfig /no/such/file: no such file"),
    "workload_wait": (
        {"kind": "Jbo", "name": "x", "kubeconfig": "KUBECONFIG"},
        "kind 'Jbo': the condition for its end",
    ),
    "run_info": ({}, "no cluster: 'kubeconfig' is not set"),
    "run_stop": ({"release": "r", "kubeconfig": "/no/such/file"}, "no such file"),
    "terraform_stack": ({"source": "/no/such", "data_dir": "/no/such"}, "source /no/such: there is no such directory"),
    "eks_preflight": ({"region": "us-west-2", "variables": {"nmae": "demo"}}, "variables.nmae: the stack has no such"),
    "state_bucket_info": ({"name": "states", "region": "us-wset-2!"}, "region 'us-wset-2!': expected a region"),
    "pipeline_info": ({"pipeline": "/no/such/pipeline"}, "there is no pipeline.yaml in it"),
}
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
"""


def run(name: str, arguments: dict[str, t.Any], capsys: pytest.CaptureFixture[str]) -> tuple[t.Any, dict[str, t.Any]]:
    module = importlib.import_module(f"ansible_collections.mlops.eks.plugins.modules.{name}")
    with patch_module_args(arguments), pytest.raises(SystemExit) as ended:
        module.main()
    return ended.value.code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_a_message_and_no_traceback(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, words = REFUSED[name]
    (tmp_path / "kubeconfig").write_text(KUBECONFIG, encoding="utf-8")
    given = {key: str(tmp_path / "kubeconfig") if value == "KUBECONFIG" else value for key, value in arguments.items()}
    code, found = run(name, given, capsys)
    assert code == 1
    assert found["failed"] is True
    assert words in found["msg"]
    assert "\n" not in found["msg"]
    assert "exception" not in found


def test_a_module_that_succeeds_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run("pipeline_info", {"pipeline": str(ROOT / "recipes/demo/digits")}, capsys)
    assert code == 0
    assert found["changed"] is False
    assert [step["name"] for step in found["pipeline"]["steps"]] == ["data", "train", "evaluate", "serve", "call"]
