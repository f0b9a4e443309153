# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What is made of kubectl's answers; the program here is a script that gives one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    ClusterError,
    MissingToolError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._local import addon, kubectl

SILENT = 'Internal error occurred: failed calling webhook "x.kb.io": failed to call webhook: Post "https://x": dial tcp'
REFUSED = "The connection to the server 10.0.0.1:6443 was refused: connection refused"


def program(directory: Path, *answers: tuple[int, str, str]) -> kubectl.Kubectl:
    """Return a kubectl that gives these answers (code, output, complaint), the last one again and again."""
    for number, (_, output, complaint) in enumerate(answers):
        (directory / f"{number}.out").write_text(output, encoding="utf-8")
        (directory / f"{number}.err").write_text(complaint, encoding="utf-8")
    codes = " ".join(str(code) for code, _, _ in answers)
    path = directory / "kubectl"
    path.write_text(
        f"""#!/bin/bash
cd {directory}; codes=({codes}); echo >>asked
n=$(($(wc -l <asked) - 1)); n=$((n < {len(answers)} ? n : {len(answers) - 1}))
cat $n.out; cat $n.err >&2; exit ${{codes[n]}}
""",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return kubectl.Kubectl(binary=str(path), kubeconfig="/k", context=None)


def asked(found: kubectl.Kubectl) -> int:
    return len((Path(found.binary).parent / "asked").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    ("answer", "difference"),
    [
        ((0, "", ""), ""),
        ((1, "-a\n+b\n", "Warning: unrecognized format"), "-a\n+b\n"),
        ((2, "", 'Error from server (NotFound): namespaces "x" not found'), 'namespaces "x" not found'),
        ((2, "", 'error: no matches for kind "Stage" in version "kwok.x-k8s.io/v1alpha1"'), "no matches for kind"),
    ],
)
def test_what_is_a_difference(tmp_path: Path, answer: tuple[int, str, str], difference: str) -> None:
    found = program(tmp_path, answer).difference(tmp_path / "manifest.yaml")
    assert difference in found
    assert bool(difference) is bool(found)


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (REFUSED, UnreachableError, "Cluster of /k does not answer: The connection"),
        (f"{SILENT} 10.0.0.9:443: connect: connection refused", kubectl.SilentWebhookError, "webhook x.kb.io does not"),
        ("The Service is invalid: spec.ports: Required value", ClusterError, "spec.ports: Required value"),
    ],
)
def test_an_error_is_no_difference(tmp_path: Path, said: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        program(tmp_path, (2, "", said)).difference(tmp_path / "manifest.yaml")
    (tmp_path / "asked").unlink()
    with pytest.raises(error, match=words):
        program(tmp_path, (1, "", said)).apply("kind: X\n")


def wanted(directory: Path, timeout: float = 60.0) -> addon.Addon:
    empty = {"kustomization": {}, "patches": [], "deployments": []}
    return addon.Addon(name="x", resources=[str(directory / "a.yaml")], timeout=timeout, **empty)  # type: ignore[arg-type]


RENDERED = (0, "kind: Service\n", "")


def test_a_webhook_that_is_silent_is_asked_again(tmp_path: Path) -> None:
    silent, difference = (2, "", SILENT), (1, "+new\n", "")
    found = program(tmp_path, RENDERED, silent, silent, difference, (1, "", SILENT), (0, "", ""))
    said: list[str] = []
    result = addon.ensure(wanted(tmp_path), found, check=False, say=said.append)
    assert result == {"changed": True, "diff": {"prepared": "+new\n"}}
    assert asked(found) == 6


def test_a_webhook_that_stays_silent_is_named(tmp_path: Path) -> None:
    found = program(tmp_path, RENDERED, (2, "", SILENT))
    with pytest.raises(ClusterError, match=r"Addon x: webhook x\.kb\.io does not answer after 0 s: look at the pods"):
        addon.ensure(wanted(tmp_path, timeout=0.01), found, check=True, say=print)


def test_what_the_cluster_refuses_is_not_tried_again(tmp_path: Path) -> None:
    found = program(tmp_path, RENDERED, (1, "+new\n", ""), (1, "", "spec.ports: Required value"))
    with pytest.raises(ClusterError, match=r"Cannot apply addon x: .*spec\.ports: Required value"):
        addon.ensure(wanted(tmp_path), found, check=False, say=print)
    assert asked(found) == 3


def test_missing_kubectl_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="kubectl /no/kubectl is not installed"):
        kubectl.find_kubectl("/no/kubectl", tmp_path)
