"""Helm: argument lists in, errors out in our words; what Helm says was recorded from the real one."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._charts.programs import ask
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    CommandError,
    ConflictError,
    EksError,
    ForbiddenError,
    InvalidInputError,
    MissingToolError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._helm.cli import (
    Capabilities,
    Completed,
    Helm,
    find_helm,
    require_helm_4,
    run_program,
    translate,
)

RECORDED = json.loads(
    (Path(__file__).resolve().parents[4] / "fixtures/status/helm-errors.json").read_text(encoding="utf-8")
)
MEANT: dict[str, tuple[type[EksError], str]] = {
    "chart-absent": (CommandError, 'helm template unit-a: path "./nowhere" not found'),
    "failed-template": (InvalidInputError, "helm template unit-a: nnodes must be at least 1"),
    "forbidden": (ForbiddenError, 'helm install unit-a: configmaps "unit-cm" is forbidden: User'),
    "in-progress": (ConflictError, "helm upgrade unit-a: another operation (install/upgrade/rollback) is in progress."),
    "invalid-object": (InvalidInputError, 'helm install unit-a: Job.batch "unit-x" is invalid: [spec.template'),
    "long-name": (CommandError, "release name check failed"),
    "manifest-syntax": (CommandError, "helm template unit-a: YAML parse error on c/templates/cm.yaml"),
    "name-in-use": (ConflictError, "helm install unit-a: cannot reuse a name that is still in use."),
    "nil-pointer": (CommandError, "nil pointer evaluating interface {}.y"),
    "no-context": (InvalidInputError, 'helm install unit-a: context "nope" does not exist.'),
    "no-kind": (AbsentError, 'helm install unit-a: no matches for kind "MPIJob" in version "kubeflow.org/v9". Install'),
    "no-namespace": (
        AbsentError,
        'helm install unit-a: namespaces "no-such-namespace" not found. Create the namespace',
    ),
    "not-owned": (ConflictError, 'helm install unit-b: ConfigMap "unit-cm" in namespace "unit-test" exists and cannot'),
    "quota": (ForbiddenError, 'helm install unit-a: configmaps "unit-cm" is forbidden: exceeded quota: unit-q'),
    "rollback-absent": (CommandError, "helm rollback unit-zz: release: not found"),
    "schema": (InvalidInputError, "additional properties 'imge' not allowed"),
    "template-syntax": (CommandError, "helm template unit-a: parse error at (c/templates/cm.yaml:1): unclosed action"),
    "uninstall-absent": (CommandError, "helm uninstall unit-zz: uninstall: Release not loaded"),
    "uninstall-forbidden": (ForbiddenError, 'helm uninstall x: configmaps is forbidden: User "hostile" cannot delete'),
    "uninstall-reset": (UnreachableError, 'configmaps/hostile-a": EOF'),
    "install-broken": (UnreachableError, "helm install run: could not get apiVersions from Kubernetes: could"),
    "install-reset": (UnreachableError, "helm install run: server-side apply failed for object"),
    "install-server-error": (UnreachableError, 'an error on the server ("unknown")'),
    "install-throttled": (UnreachableError, "too many requests"),
    "install-token-expired": (UnreachableError, "asked for the client to provide credentials"),
    "uninstall-token-expired": (UnreachableError, "Failed to purge the release: Unauthorized"),
    "unknown-field": (CommandError, ".spce: field not declared in schema"),
    "unreachable": (UnreachableError, "connection refused"),
    "values-absent": (CommandError, "helm template unit-a: open nowhere.yaml: no such file or directory"),
    "values-syntax": (CommandError, "helm template unit-a: failed to parse bad.yaml"),
}


def test_every_recorded_error_has_a_meaning() -> None:
    assert sorted(MEANT) == sorted(RECORDED["errors"])


@pytest.mark.parametrize("name", MEANT)
def test_a_helm_error_is_translated(name: str) -> None:
    kind, words = MEANT[name]
    recorded = RECORDED["errors"][name]
    error = translate(recorded["stderr"], argv=["/bin/helm", *recorded["argv"]], rc=recorded["rc"])
    assert type(error) is kind
    assert words in str(error)
    for noise in ("\n", "Error:", "FAILED:", "--debug", "level="):
        assert noise not in str(error)
    assert error.details["rc"] == recorded["rc"]
    assert error.details["stderr"] == recorded["stderr"].strip()


def test_an_error_without_words_names_the_exit_code() -> None:
    assert str(translate("", argv=["helm", "install", "x"], rc=137)) == "helm install x: exit code 137"


class Spy:
    """Runs nothing and remembers."""

    def __init__(self, rc: int = 0, stdout: str = "", stderr: str = "") -> None:
        self.argv: list[list[str]] = []
        self.answer = Completed(rc, stdout, stderr)

    def __call__(self, argv: Sequence[str], *, stdin: str | None = None) -> Completed:
        self.argv.append(list(argv))
        return self.answer


def helm(spy: Spy, **more: t.Any) -> Helm:
    return Helm(**{"binary": "helm", "kubeconfig": "/k", "context": None, "namespace": "team", "run": spy, **more})


FILES = [Path("/a.yaml"), Path("/b.json")]
VALUES = ["--values", "/a.yaml", "--values", "/b.json"]
WHERE = ["--namespace", "team", "--kubeconfig", "/k"]


def test_argument_lists() -> None:
    spy = Spy(stdout="a: 1\n")
    one = helm(spy)
    assert one.template("r", Path("/c"), FILES) == "a: 1\n"
    one.install("r", Path("/c"), FILES, labels={"mlops.eks/step": "train", "x": "y"})
    one.install("r", Path("/c"), FILES, labels={}, upgrade=True)
    one.uninstall("r")
    one.rollback("r", 3)
    marks = ["--labels", "mlops.eks/step=train,x=y", "--description", "mlops.eks step"]
    assert spy.argv[:2] == [
        ["helm", "template", "r", "/c", *VALUES, "--namespace", "team"],
        ["helm", "install", "r", "/c", *VALUES, *marks, *WHERE],
    ]
    assert spy.argv[2][:9] == ["helm", "upgrade", "r", "/c", "--reset-values", *VALUES]
    assert spy.argv[3:] == [
        ["helm", "uninstall", "r", "--ignore-not-found", "--debug", *WHERE],
        ["helm", "rollback", "r", "3", *WHERE],
    ]


PURGED = (
    'level=DEBUG msg="deleting release" key=sh.helm.release.v1.run.v1\n'
    "Error: uninstallation completed with {}: uninstall: Failed to purge the release: "
    'secrets "sh.helm.release.v1.run.v1" {}\n'
)


def test_a_release_that_another_deletes_at_the_same_time_is_gone() -> None:
    helm(Spy(rc=1, stderr=PURGED.format("1 error(s)", "not found"))).uninstall("run")


@pytest.mark.parametrize(("count", "why"), [("2 error(s)", "not found"), ("1 error(s)", "is forbidden: no")])
def test_a_release_that_is_not_deleted_whole_is_an_error(count: str, why: str) -> None:
    with pytest.raises(EksError):
        helm(Spy(rc=1, stderr=PURGED.format(count, why))).uninstall("run")


def test_install_does_not_wait() -> None:
    spy = Spy()
    helm(spy).install("r", Path("/c"), [], labels={"a": "b"})
    assert not [part for part in spy.argv[0] if "wait" in part or "timeout" in part]


def test_the_context_is_named_where_there_is_one() -> None:
    spy = Spy()
    helm(spy, context="other").uninstall("r")
    assert spy.argv[0][-2:] == ["--kube-context", "other"]


def test_a_failure_is_translated() -> None:
    with pytest.raises(ConflictError, match="another operation"):
        helm(Spy(rc=1, stderr=RECORDED["errors"]["in-progress"]["stderr"])).rollback("r", 1)


def test_run_program_captures_without_a_shell() -> None:
    done = run_program(["bash", "-c", "cat; echo $1 >&2; exit 3", "-", "$HOME;x"], stdin="in")
    assert done == Completed(3, "in", "$HOME;x\n")
    assert run_program(["printf", "\\377"]).stdout == "\ufffd"


def test_find_helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(*parts: str) -> str:
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("MLOPS_EKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MLOPS_EKS_HELM", raising=False)
    with pytest.raises(MissingToolError, match="make tools"):
        find_helm()
    on_path = program("path", "helm")
    assert find_helm() == on_path
    built = program("cache", "bin", "helm")
    assert find_helm() == built
    named = program("named")
    monkeypatch.setenv("MLOPS_EKS_HELM", named)
    assert find_helm() == named
    assert find_helm(program("given")) == str(tmp_path / "given")


def test_templates_are_told_what_the_cluster_is() -> None:
    spy, kinds = Spy(), tuple(f"example.org/v1/Kind{number}" for number in range(501))
    helm(spy).template("r", Path("/c"), [], Capabilities("v1.35.3", ("apps/v1", "apps/v1/Deployment")))
    told = ["--kube-version", "v1.35.3", "--api-versions", "apps/v1,apps/v1/Deployment"]
    assert spy.argv[0] == ["helm", "template", "r", "/c", "--namespace", "team", *told]
    assert Capabilities("", kinds).flags()[2:] == ["--api-versions", kinds[500]]
    assert Capabilities().flags() == []


def test_a_failure_does_not_show_all_kinds_of_the_cluster() -> None:
    with pytest.raises(CommandError) as caught:
        helm(Spy(rc=1)).template("r", Path("/c"), [], Capabilities("v1.35.3", ("apps/v1",)))
    assert "--api-versions" not in caught.value.details["command"]


def test_helm_works_where_it_is_told_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    led_away = {
        "HELM_DRIVER": "memory", "HELM_NAMESPACE": "x", "HELM_KUBEAPISERVER": "https://other", "HELM_KUBETOKEN": "",
        "HELM_KUBECONTEXT": "other", "HELM_KUBEASUSER": "other", "HELM_DEBUG": "true", "HELM_MAX_HISTORY": "1",
        "KUBECONFIG": "/other",
    }  # fmt: skip
    kept = {
        "HELM_REGISTRY_CONFIG": "/registry.json", "HELM_REPOSITORY_CACHE": "/cache", "HELM_PLUGINS": "/plugins",
        "HTTPS_PROXY": "http://proxy", "NO_PROXY": "10.0.0.0/8", "SSL_CERT_FILE": "/ca.pem", "AWS_PROFILE": "train",
    }  # fmt: skip
    for name, value in (led_away | kept).items():
        monkeypatch.setenv(name, value)
    seen = dict(line.split("=", 1) for line in run_program(["env"]).stdout.splitlines() if "=" in line)
    assert not led_away.keys() & seen.keys()
    assert kept.items() <= seen.items()


def test_sources_of_charts_are_asked_with_the_same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM_DEBUG", "true")
    monkeypatch.setenv("HELM_REGISTRY_CONFIG", "/registry.json")
    seen = ask(["env"]).stdout.splitlines()
    assert "HELM_REGISTRY_CONFIG=/registry.json" in seen
    assert "HELM_DEBUG=true" not in seen


def test_only_helm_4_is_supported_and_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLOPS_EKS_CACHE", str(tmp_path / "cache"))

    def program(version: str) -> str:
        path = tmp_path / "helm"
        path.write_text(f"#!/bin/sh\necho asked >>{tmp_path}/asked\n{version}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    for said, found in (
        ("echo v3.19.0", "v3.19.0"),
        ("echo v5.0.0", "v5.0.0"),
        ("exit 1", "a program without a version"),
    ):
        with pytest.raises(MissingToolError, match=f"Helm 4 is needed, found {found}"):
            require_helm_4(program(said))
    (tmp_path / "asked").unlink()
    four = program("echo v4.2.4")
    assert [require_helm_4(four), require_helm_4(four)] == [four, four]
    assert (tmp_path / "asked").read_text(encoding="utf-8").splitlines() == ["asked"]
