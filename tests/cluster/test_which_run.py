# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""A run is shown and stopped by what started it: its pipeline, in whatever namespace that names."""

from __future__ import annotations

import pytest
import yaml
from plays import until
from samples import gated
from space import Space

pytestmark = pytest.mark.cluster


def test_a_pipeline_with_a_namespace_is_trained_shown_and_stopped_by_its_directory(space: Space) -> None:
    # Other tests on this cluster have runs of other names.
    run = space.namespace
    pipeline = space.pipeline(run, train=gated())
    written = pipeline / "pipeline.yaml"
    document = {**yaml.safe_load(written.read_text(encoding="utf-8")), "namespace": space.namespace}
    written.write_text(yaml.safe_dump(document), encoding="utf-8")
    hosts = space.write_inventory({space.host: {"kubeconfig": space.kubeconfig}}, "no-namespace.yml")

    training = space.start("train", inventory=hosts, pipeline=pipeline, awx_user_name="ada")
    until(lambda: space.ledger(run).get("train", {}).get("outcome") == "running", "the step runs")
    assert space.ledger(run)["train"]["user"] == "ada"

    shown = space.start("status", inventory=hosts, pipeline=pipeline).end(0)
    assert "ada@" in shown
    assert "running" in shown
    # Looked for in the wrong namespace, by its name alone, it is pointed to.
    hint = f"But run {run} is in {space.namespace}: set the namespace"
    lost = " ".join(space.start("stop", inventory=hosts, release=run, kube_namespace="default").end(2).split())
    assert hint in lost
    nowhere = space.start("status", inventory=hosts, release=run, kube_namespace="default").end(0)
    assert hint in " ".join(nowhere.split())

    stopped = space.start("stop", inventory=hosts, pipeline=pipeline).end(0)
    assert "stopped train" in stopped
    training.end(2)
    assert space.releases() == []
