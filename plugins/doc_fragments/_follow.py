# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of everything that follows a workload to its end."""

    DOCUMENTATION = r"""
options:
  timeout:
    description: Seconds the workload may take, from the start of the step. After them, the outcome is
      V(timed_out). V(0) for no limit.
    type: float
    default: 0
  no_output_timeout:
    description:
      - Seconds in which no container of a running workload may write a line. After them, the
        outcome is V(timed_out) and the cause's reason V(NoOutputTimeout). V(0) for no limit.
      - This detects training that hangs in a collective operation long before O(timeout).
    type: float
    default: 0
  pending_timeout:
    description:
      - Seconds that a workload may be pending, before its start or between two attempts of its operator. After them,
        the outcome is V(timed_out) and the cause's reason V(PendingTimeout). V(0) for no limit.
    type: float
    default: 0
  progress:
    description:
      - Pattern, a Python regular expression, that finds the progress of the program in the leader's log, such
        as V(step (?P<done>\\d+\)/(?P<total>\\d+\)).
      - Its group C(done) and, where there is one, its group C(total) are numbers. The heartbeat then shows percent,
        rate and time left, and the record keeps the last report.
    type: str
  heartbeat:
    description:
      - Seconds without output after which a line says that the workload goes on. V(0) for no such line.
      - The reason why a workload waits is printed when it changes, and again every five minutes.
    type: float
    default: 60
  until:
    description:
      - Condition that ends the workload with success, spelled as in C(kubectl wait), V(condition=Ready) or
        V(jsonpath={.status.phase}=Done). A path is made of keys, indices and filters.
      - When omitted, the condition of its kind; a workload of an unknown kind needs it. A workload that ends well
        although the condition never held has failed.
    type: str
  fail_on:
    description: Conditions that end the workload as failed, each spelled like O(until).
    type: list
    elements: str
  image_pull_grace:
    description:
      - Seconds an image may fail to be pulled before the step fails. V(0) for no limit.
      - An invalid image name, or an absent image with C(imagePullPolicy=Never), fails the step at once unless this
        is V(0).
    type: float
    default: 30
  config_grace:
    description: Seconds that a Secret, ConfigMap or claim may be missing, that a container may not be created, or that
      the API server may refuse pods, before the step fails. V(0) for no limit.
    type: float
    default: 15
  volume_grace:
    description:
      - Seconds a volume may fail to be attached or mounted before the step fails. V(0) for no limit.
      - A volume that is still attached to a node that was lost is free after six minutes at most.
    type: float
    default: 900
  unschedulable_grace:
    description:
      - Seconds without a node that has room, with a full quota, or with a claim that is not bound, before the
        step fails. V(0) for no limit; the reason is printed meanwhile.
      - O(pending_timeout) limits a wait for any reason.
    type: float
    default: 0
  infeasible_grace:
    description:
      - Seconds after which a workload fails that does not run and has a pod that no node of the cluster could run,
        even an empty one, and for which no NodePool of Karpenter could make a node. V(0) to wait without limit.
      - Where nodes or NodePools may not be read, where the cluster autoscaler is active, or where a node left the
        cluster within the last fifteen minutes, this cannot be known, and the workload waits.
    type: float
    default: 60
  failure_grace:
    description: Seconds after which a failure that may still be taken back fails the step, such as a failed condition
      that an operator may undo, a lost pod that is not replaced, a webhook that does not answer, or a Workload that
      Kueue gave up. V(0) for no limit.
    type: float
    default: 300
  lost_rank_grace:
    description:
      - Seconds without output after which an MPIJob fails that lost a rank with its node, by eviction or deletion.
        V(0) for no limit.
      - mpirun often does not learn of the loss, and waits without limit.
    type: float
    default: 120
  max_restarts:
    description: Quick failures of one container that are accepted before it counts as a crash loop. V(0) for no limit.
    type: int
    default: 5
  logs:
    description:
      - Whose log lines are printed. V(leader) is the container whose log stands for the workload's, such as the
        launcher of an MPIJob or rank 0; V(all) is every container, each line with its rank; V(none) prints no log line.
      - The evidence keeps all logs in any case.
    type: str
    choices: [leader, all, none]
    default: leader
  log_streams:
    description:
      - Logs that are followed at the same time, at least one. When there are more, each is read in turns of 15 seconds,
        what has ended first, and read to its end when its container ends.
      - A container that waits for its turn may lose lines by the kubelet's rotation (10 MiB) or by being deleted at
        once. The record of the step reports that as C(log_gap).
    type: int
    default: 32
  run_id:
    description:
      - Name of the run's directory under O(runs_dir). When omitted, a new one.
      - Steps of one run have the same; it identifies a run that is stopped between two of them.
    type: str
  runs_dir:
    description: Directory for the evidence, relative to the working directory.
    type: path
    default: runs
"""
