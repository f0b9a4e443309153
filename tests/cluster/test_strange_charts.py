# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Charts of other people, which render more than one workload."""

from __future__ import annotations

import pytest
from any_chart import write
from recorded_workloads import deployment, job, pod
from space import Space

pytestmark = pytest.mark.cluster

SLEEP = "exec sleep 600"


def test_of_two_jobs_the_step_says_which_decides(space: Space) -> None:
    chart, values = write(space.directory / "chart", [job("early", pod("echo early bird")), job("late", pod(SLEEP))])
    step = {"name": "both", "chart": str(chart), "recipe": "both.yaml", "timeout": 600}
    shown = space.play("train", rc=2, pipeline=str(space.pipeline_of("run", [step], {"both": values})))
    assert "renders several workloads (Job/early, Job/late)" in shown
    assert "for example workload: Job/early" in shown
    assert space.names("jobs") == []

    chosen = space.pipeline_of("run", [{**step, "workload": "Job/early"}], {"both": values})
    assert "| early bird" in space.play("train", pipeline=str(chosen))
    assert space.record("both")["workload"]["name"] == "early"
    # The other one went with the release.
    assert space.names("jobs") == []


def test_the_server_beside_a_job_decides_when_the_step_says_so(space: Space) -> None:
    objects = [deployment("web", pod(SLEEP)), job("setup", pod("echo set up"))]
    chart, values = write(space.directory / "chart", objects)
    step = {"release": "run", "chart": str(chart), "values": values, "keep": True, "timeout": 600}
    space.task("helm_step", **step, workload="Deployment")
    record = space.record("run")
    assert (record["outcome"], record["workload"]["kind"]) == ("ready", "Deployment")
    assert space.releases() == ["run"]
