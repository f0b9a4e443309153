# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options of everything that follows a workload to its end."""

    DOCUMENTATION = r"""
options:
  timeout:
    description: Seconds the workload may take, from the start of the step. When they are over, the outcome is
      V(timed_out). V(0) for no limit.
    type: float
    default: 0
  no_output_timeout:
    description:
      - Seconds in which a workload that runs may write no line, by any of its containers. When they are over, the
        outcome is V(timed_out) and the cause's reason V(NoOutputTimeout). V(0) for no limit.
      - Training that hangs in a collective operation is found this way long before any O(timeout).
    type: float
    default: 0
  pending_timeout:
    description:
      - Seconds in which a workload may not run, before its start or between two attempts of its operator. When they
        are over, the outcome is V(timed_out) and the cause's reason V(PendingTimeout). V(0) for no limit.
    type: float
    default: 0
  progress:
    description:
      - Pattern, a Python regular expression, that finds in the lines of the leader's log how far the program is, such
        as V(step (?P<done>\\d+\)/(?P<total>\\d+\)).
      - Its group C(done) and, where there is one, its group C(total) are numbers. The heartbeat then shows percent,
        rate and what is left, and the record keeps the last report.
    type: str
  heartbeat:
    description:
      - Seconds of silence after which a line says that the workload is still there. V(0) for no such line.
      - Why a workload waits is printed when it changes, and again every five minutes.
    type: float
    default: 60
  until:
    description:
      - What ends the workload well, spelled as in C(kubectl wait), V(condition=Ready) or
        V(jsonpath={.status.phase}=Done). A path is made of keys, indices and filters.
      - When omitted, what its kind defines; a workload of any other kind needs it. One that ends well without this ever
        being true has failed.
    type: str
  fail_on:
    description: What ends the workload badly, each spelled like O(until).
    type: list
    elements: str
  image_pull_grace:
    description:
      - Seconds an image may fail to be pulled before the step fails. V(0) for no limit.
      - A name that can be no image's, or an absent image with C(imagePullPolicy=Never), fails it at once unless this
        is V(0).
    type: float
    default: 30
  config_grace:
    description: Seconds a missing Secret, ConfigMap or claim, a container that cannot be made, or pods that the API
      server refuses, are waited for before the step fails. V(0) for no limit.
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
      - Seconds without a node that has room, within a quota that is full, or with a claim that is not bound, before the
        step fails. V(0) for no limit; why it waits is printed meanwhile.
      - O(pending_timeout) limits all waiting, whatever it is for.
    type: float
    default: 0
  infeasible_grace:
    description:
      - Seconds after which a workload fails that does not run and has a pod which no node of the cluster could run,
        even if it were empty, and for which no NodePool of Karpenter could make one. V(0) to wait in spite of it.
      - Where nodes or NodePools may not be read, where the cluster autoscaler is at work, or where a node left the
        cluster within the last fifteen minutes, this is not known, and the workload waits.
    type: float
    default: 60
  failure_grace:
    description: Seconds after which a failure that could still be taken back fails the step, as a failed condition that
      an operator may undo, a pod that was lost and is not replaced, a webhook that does not answer, a Workload that
      Kueue gave up. V(0) for no limit.
    type: float
    default: 300
  lost_rank_grace:
    description:
      - Seconds of silence after which an MPIJob fails that has lost a rank with its node, by eviction or deletion.
        V(0) for no limit.
      - mpirun often does not learn of the loss, and waits for ever.
    type: float
    default: 120
  max_restarts:
    description: Quick failures of one container that are accepted before it counts as a crash loop. V(0) for no limit.
    type: int
    default: 5
  logs:
    description:
      - Whose log lines are printed. V(leader) is the container whose log is the workload's, such as the launcher of an
        MPIJob or rank 0; V(all) is every container, each line with its rank; V(none) prints no log line.
      - All logs are kept in the evidence, whatever is printed.
    type: str
    choices: [leader, all, none]
    default: leader
  log_streams:
    description:
      - Logs that are followed at the same time, at least one. When there are more, each is read in turns of 15 seconds,
        what has ended first, and read to its end when its container ends.
      - What a container that waits for its turn loses by the kubelet's rotation (10 MiB) or by being deleted at once is
        said in the record of the step, as C(log_gap).
    type: int
    default: 32
  run_id:
    description:
      - Name of the run's directory under O(runs_dir). When omitted, a new one.
      - Steps of one run have the same; a run that is stopped between two of them is known by it.
    type: str
  runs_dir:
    description: Directory for the evidence, relative to the working directory.
    type: path
    default: runs
"""
