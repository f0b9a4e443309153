# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Charts that prepare models and data, and the notebook, run to their end and checked."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest
from driven import run_step
from fakes import hub as hub_program
from fakes.hub import SAMPLE
from plays import until
from samples import Json
from space import Space

pytestmark = [pytest.mark.cluster, pytest.mark.operators]

IMAGE = "localhost/mlops-eks/notebook:0.1.0"
MODEL, WEIGHTS, TOKEN = "example/sample", "model.safetensors", "not-a-real-token"
SMALL = {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}


def step(space: Space, chart: str, values: Json, rc: int = 0, **more: t.Any) -> str:
    """Run a chart with the image of these tests, small, and return what was shown."""
    return run_step(space, chart, {"image": IMAGE, "resources": SMALL, **values}, rc, **more)


def serve_hub(space: Space, token: str) -> None:
    """Start the small hub of the tests in a pod, behind the Service `hub`."""
    name = {"name": "hub", "labels": {"app": "hub"}}
    program = Path(hub_program.__file__).read_text(encoding="utf-8")
    space.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": {"hub.py": program}})
    container = {
        "name": "hub",
        "image": IMAGE,
        "command": ["python3", "/hub/hub.py", "8000", *([token] if token else [])],
        "readinessProbe": {"tcpSocket": {"port": 8000}, "periodSeconds": 1},
        "resources": SMALL,
        "volumeMounts": [{"name": "hub", "mountPath": "/hub"}],
    }
    volumes = [{"name": "hub", "configMap": {"name": "hub"}}]
    spec = {"terminationGracePeriodSeconds": 0, "containers": [container], "volumes": volumes}
    space.apply({"apiVersion": "v1", "kind": "Pod", "metadata": name, "spec": spec})
    service = {"selector": {"app": "hub"}, "ports": [{"port": 8000}]}
    space.apply({"apiVersion": "v1", "kind": "Service", "metadata": name, "spec": service})
    space.kubectl("wait", "--for=condition=Ready", "pod/hub", "--timeout=300s")


def test_hf_snapshot(space: Space, proven: Callable[..., None]) -> None:
    serve_hub(space, TOKEN)
    shared = space.share("models")
    chart = "model-prep/hf-snapshot"
    recipe = {
        "pvc": [{"name": "models", "mount_path": "/models"}],
        "env": [
            {"name": "HF_MODEL_ID", "value": MODEL},
            {"name": "HF_ENDPOINT", "value": "http://hub:8000"},
            {"name": "LOG_ROOT", "value": "/models/logs"},
        ],
        "snapshot": {"dir": "/models/snapshots", "user": 1234, "group": 2345},
        "hf_token": "wrong",
    }
    refused = step(space, chart, recipe, rc=2)
    assert "the hub does not take the token" in refused
    assert not (shared / "snapshots").exists()

    assert "changed=1" in step(space, chart, {**recipe, "hf_token": TOKEN, "revision": SAMPLE.commit()})
    assert space.record("run")["outcome"] == "succeeded"
    model = shared / "snapshots" / MODEL
    files = {str(path.relative_to(model)): path for path in model.rglob("*") if path.is_file()}
    kept = {name: text for name, text in SAMPLE.commits[0].items() if name != "model.h5"}
    assert {name: path.read_bytes() for name, path in files.items() if name != ".snapshot.json"} == kept
    assert {(path.stat().st_uid, path.stat().st_gid) for path in files.values()} == {(1234, 2345)}
    assert f"complete at commit {SAMPLE.commit()[:12]}" in (shared / "logs" / "hfsnapshot.log").read_text()
    written = [path.read_text(errors="replace") for path in space.runs.rglob("*") if path.is_file()]
    assert not [text for text in written if TOKEN in text]
    proven(chart, "executed")


@pytest.mark.parametrize("chart", ["coco-data", "databricks-dolly-15k-data", "redpajama-data"])
def test_data(chart: str, space: Space, proven: Callable[..., None]) -> None:
    serve_hub(space, "")
    shared = space.share("data")
    recipe = {
        "pvc": {"name": "data", "mount_path": "/data", "data_path": "set"},
        "downloads": [{"url": f"http://hub:8000/{MODEL}/resolve/main/{WEIGHTS}", "path": f"sub/{WEIGHTS}"}],
    }
    assert "changed=1" in step(space, f"data-prep/{chart}", recipe)
    assert (shared / "set" / "sub" / WEIGHTS).read_bytes() == SAMPLE.commits[0][WEIGHTS]
    # Another run finds it complete, and downloads a file that was cut short again.
    step(space, f"data-prep/{chart}", recipe, force=True)
    assert not [line for line in space.log("run") if "begins" in line]
    (shared / "set" / "sub" / WEIGHTS).write_bytes(b"short")
    step(space, f"data-prep/{chart}", recipe, force=True)
    assert (shared / "set" / "sub" / WEIGHTS).read_bytes() == SAMPLE.commits[0][WEIGHTS]
    proven(f"data-prep/{chart}", "executed")


BROWSER = Path(__file__).with_name("browser.py")


def test_notebook(space: Space, proven: Callable[..., None]) -> None:
    """The Service gives a page, a kernel and TensorBoard to those who have the token."""
    chart = "testing/notebook"
    shared = space.share("home")
    (shared / "mine").mkdir(mode=0o777)
    (shared / "mine" / "first.ipynb").write_text(
        json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    recipe = {
        "token": TOKEN,
        "pvc": [{"name": "home", "mount_path": "/efs"}],
        "root_dir": "/efs/mine",
        "log_dir": "/efs/mine/logs",
    }
    assert "changed=1" in step(space, chart, recipe, keep=True)
    assert space.record("run")["outcome"] == "ready"
    assert "changed=0" in step(space, chart, recipe, keep=True)
    (service,) = [one for one in space.get("services") if one["metadata"]["name"].startswith("notebook-")]
    assert service["spec"]["type"] == "ClusterIP"
    pods = [pod for pod in space.get("pods") if pod["metadata"]["name"].startswith("notebook-")]
    assert TOKEN not in json.dumps(pods)
    command = ["python3", "-c", BROWSER.read_text(encoding="utf-8"), service["metadata"]["name"], TOKEN]
    container = {"name": "browser", "image": IMAGE, "command": command, "resources": SMALL}
    spec = {"restartPolicy": "Never", "containers": [container]}
    space.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "browser"}, "spec": spec})
    ended = ("get", "pod", "browser", "-o", "jsonpath={.status.phase}")
    until(lambda: space.kubectl(*ended) in ("Succeeded", "Failed"), "the browser has ended", seconds=300)
    assert space.kubectl("logs", "browser").splitlines() == [
        "without a token 403",
        "another token 403",
        "page True",
        "notebooks ['first.ipynb']",
        "cell 42",
        "tensorboard True",
        "runs []",
    ]
    space.play("stop", release="run")
    assert space.releases() == []
    proven(chart, "executed")
