"""What pipelines need of nodes, read from recipes."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._aws.node_needs import Pods, step_needs

PIPELINE = """
name: big
steps:
  - {name: data, chart: data-prep/data-process, recipe: data.yaml}
  - {name: train, chart: training/mpijob-distributed, recipe: train.yaml, values: {resources: {nnodes: 3}}}
  - {name: serve, chart: serving/generic-server, recipe: serve.yaml}
  - {name: call, chart: data-prep/data-process, recipe: data.yaml}
"""
RECIPES = {
    "data.yaml": "image: a:1\n",
    "train.yaml": "image: a:1\n"
    "resources: {node_type: [p5.48xlarge, p4d.24xlarge], nnodes: 2, limits: {nvidia.com/gpu: 8}}\n"
    "launcher: {resources: {node_type: m5.large, limits: {memory: 1Gi}}}\n",
    "serve.yaml": "image: a:1\nresources: {node_type: g5.xlarge, limits: {nvidia.com/gpu: 1}}\n"
    "server: {autoscaling: {maxReplicas: 4}}\n",
}


def test_each_step_tells_its_pods_and_those_of_servers_before_it(tmp_path: Path) -> None:
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    for name, text in RECIPES.items():
        (tmp_path / name).write_text(text)
    found = {step.name: step.pods for step in step_needs(str(tmp_path))}
    launcher, workers = sorted(found["big/train"], key=lambda pods: pods.node_type)
    assert (workers.node_type, workers.count, workers.resources["nvidia.com/gpu"]) == ("p5.48xlarge", 3, 8)
    # Limits and requests of a chart's defaults count too.
    assert (launcher.node_type, launcher.count, launcher.resources["memory"]) == ("m5.large", 1, 256 * 2**20)
    server = Pods(node_type="g5.xlarge", count=4, resources={"nvidia.com/gpu": 1})
    assert found["big/serve"] == (server,)
    # The server stays, the training does not.
    assert found["big/call"] == (server,)
    assert "big/data" not in found


def test_recipes_that_name_no_type_need_none() -> None:
    assert step_needs("recipes/demo/digits") == []
