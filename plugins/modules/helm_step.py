#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: helm_step
short_description: Run one recipe as one Helm release to its end
description:
  - Renders a chart with a recipe, installs it, follows its workload to the end, keeps the evidence and
    uninstalls it.
  - A step that already succeeded with the same chart, values, release and namespace is skipped; one that is running
    is re-attached.
  - With a local connection the log of the workload's leader is printed live.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
  - mlops.eks._cluster
  - mlops.eks._cluster.namespace
  - mlops.eks._cluster.helm
  - mlops.eks._follow
options:
  release:
    description: Name of the run, shared by all steps of a pipeline, and of the Helm release unless O(keep) is set.
    type: str
    required: true
  step:
    description: Name of the step within the run. When omitted, the release name.
    type: str
  chart:
    description:
      - Chart of the catalogue as V(group/chart), a chart directory, a packaged chart (C(.tgz)), or
        V(oci://HOST/PATH/CHART).
      - With O(repo), the name of the chart there; a name in an index or a directory of a git tree.
    type: str
    required: true
  repo:
    description:
      - Repository the chart is in, as V(https://HOST/PATH) for one with an index, or as V(git+https://HOST/PATH),
        V(git+ssh://USER@HOST/PATH) or V(git+file:///PATH) for a git tree.
      - Logins are those of Helm and git, by C(helm repo add), C(helm registry login) and git's credential helpers.
    type: str
  version:
    description:
      - Version of a chart that is in a registry or repository; exact, or a range such as V(~1.4).
      - Of a git tree, the tag, branch or whole commit.
      - An exact version, a tag or a commit that was fetched before is used when its source cannot be reached.
    type: str
  digest:
    description:
      - SHA-256 that the package of a chart in a registry or repository must have, as V(sha256:…).
      - A package of that digest that was fetched before is used without a request.
    type: str
  recipe:
    description: Recipe files (Helm values), merged in order; the later wins.
    type: list
    elements: path
  values:
    description:
      - Values merged over the recipes as the last layer.
      - What the chart's schema marks as C(writeOnly), here or in a recipe, becomes a Secret C(<helm release>-secrets),
        which is removed with the release. Neither the release nor the evidence holds it, and a change of its content
        does not make another step.
    type: dict
  secrets:
    description:
      - Kubernetes Secrets that the step needs. One that the chart's objects name is made before the release and removed
        with it, unless another release uses it; one of that name that is not ours is refused.
      - Before a step is installed, everything that is declared must exist or be available from its source.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the Secret.
        type: str
        required: true
      type:
        description: Its type; V(Opaque) when omitted.
        type: str
      data:
        description:
          - Its keys, and for each the text itself, or a mapping that names its source. The mapping has one of
            C(variable) (of the host), C(env) (of the controller), C(lookup) with C(terms) and C(options), C(aws_secret)
            with C(key) and C(region), C(ssm_parameter) with C(region).
          - The text is masked in everything that is printed and kept.
        type: dict
      keys:
        description: Instead of O(secrets[].data), keys that an existing Secret must have.
        type: list
        elements: str
  keep:
    description:
      - Leave the release installed when it is ready, as for a server. Its Helm release is then named C(release-step),
        and a changed recipe upgrades it in place.
      - When omitted, the chart's annotation C(mlops.eks/until) decides.
    type: bool
  workload:
    description:
      - Which of the chart's objects decides the step, as V(Kind/name), or V(Kind) where the chart renders one of it.
      - When omitted, what runs to completion, else what serves, else a bare Pod, else the one object of a custom kind;
        a chart that renders several of the same rank is refused. Any object can be followed by O(until).
    type: str
  cleanup:
    description: When to uninstall a release whose workload has ended.
    type: str
    choices: [always, on_success, never]
    default: always
  force:
    description: Run the step even if it succeeded before, and replace what is installed.
    type: bool
    default: false
  allow_lookup:
    description:
      - Whether templates in values may call C(lookup), which reads any object that the user of the play may read, or
        what could call it under a computed name (C(tpl), C(set), C(merge), C(include) with data of its own).
      - A chart's own templates may always do so.
    type: bool
    default: false
  replace:
    description: Replace a release that still runs with other values, instead of refusing.
    type: bool
    default: false
  adopt:
    description:
      - Take over a Helm release of the name that this step needs, although this collection did not install it, or the
        run's ledger is gone. Without it such a release is refused by name, whatever its status, and not changed.
      - A server is upgraded in place; a job is replaced, for which O(replace) must be set if it may still run.
      - A release of another run is never taken over.
    type: bool
    default: false
  ready_timeout:
    description:
      - Seconds in which the upgrade of a server that was ready before must be ready again; V(0) for no limit.
      - When it is not, or fails, the release is rolled back to the revision that was ready last, with the same limit
        for it to be ready, and the step fails. A step that fails never uninstalls a server that was ready.
    type: float
    default: 1800
  later_releases:
    description: Helm releases that later steps of the pipeline will need. One that does not belong to the run is
      refused before this step begins.
    type: list
    elements: str
  retries:
    description:
      - How often a step that failed is run again, V(0) for never; each time from its installation. What it left is
        uninstalled; volumes and what is on them, such as checkpoints, are not touched. O(timeout) covers all attempts.
      - The evidence of an earlier attempt is kept in C(attempt-1) and so on, beside that of the last one.
      - Steps that stay installed are not retried; Kubernetes replaces their failed pods.
    type: int
    default: 0
  retry_on:
    description: Categories of causes after which a step is run again; V(any) for every one, and for a workload that
      hangs or does not start in time.
    type: list
    elements: str
    choices: [evicted, node_lost, preempted, image_pull, any]
    default: [evicted, node_lost, preempted]
  retry_backoff:
    description: Seconds before the first retry; doubled before each further one, up to ten minutes.
    type: float
    default: 10
  leftover_grace:
    description:
      - Seconds that pods of an earlier attempt or step may stay beyond their own grace period before the step fails
        with the reason C(StuckTerminating); V(0) for no limit. Nothing is installed beside them.
      - Pods stay where their node does not answer, until it is back or its Node object is deleted. A line explains the
        wait every minute; O(timeout) and O(pending_timeout) hold meanwhile.
    type: float
    default: 3600
  after:
    description: Earlier steps of the run. An older success of this step does not count when one of them ran
      since.
    type: list
    elements: str
  pipeline:
    description: Name of the pipeline, for ledger and report.
    type: str
  index:
    description: Position of the step in its pipeline, from 1.
    type: int
    default: 1
  total:
    description: Number of steps in the pipeline.
    type: int
    default: 1
  lock_timeout:
    description:
      - Seconds to wait for another controller that follows the same release. After them, the task fails as soon
        as that controller has shown that it is alive, which takes up to 45 seconds. V(0) for no limit.
    type: float
    default: 1
"""

EXAMPLES = r"""
- name: Fine-tune BERT on MRPC
  mlops.eks.helm_step:
    kubeconfig: ~/.kube/train-usw2.yaml
    namespace: kubeflow-user-example-com
    release: accel-bert
    chart: training/pytorchjob-distributed
    recipe:
      - recipes/training/accelerate/bert-glue-mrpc/pretrain.yaml
    values:
      resources: {nnodes: 2}
    timeout: 604800
  register: step

- name: Run a chart from a repository
  mlops.eks.helm_step:
    kubeconfig: ~/.kube/train-usw2.yaml
    release: sweep
    chart: sweeper
    repo: https://charts.example.com
    version: ~2.1
    recipe: [sweep.yaml]
"""

RETURN = r"""
outcome:
  description: How the step ended.
  returned: always
  type: str
  sample: succeeded
cause:
  description: Why it did not reach its goal.
  returned: when O(ignore:outcome) is not good
  type: dict
  sample: {reason: OOMKilled, object: Pod/mpijob-digits-worker-1, container: worker, message: "...", remedy: "..."}
identity:
  description: SHA-256 of chart, values, release and namespace.
  returned: always
  type: str
  sample: 6f0c5a...
evidence:
  description: Directory with values, manifest, workload, pods, events and logs.
  returned: outside check mode
  type: str
  sample: runs/20261121T091502-digits-3f9a/local/02-train
run_id:
  description: Name of the run.
  returned: outside check mode
  type: str
  sample: 20261121T091502-digits-3f9a
workload:
  description: The object whose status decided the step.
  returned: when the step ran
  type: dict
  sample: {api_version: kubeflow.org/v2beta1, kind: MPIJob, name: mpijob-digits}
attempt:
  description: The number of the last attempt; RV(attempts) lists those before it.
  returned: outside check mode
  type: int
  sample: 2
attempts:
  description: Earlier attempts of this step, each with times, run, cause and the place of its evidence.
  returned: outside check mode
  type: list
  elements: dict
  sample:
    - {attempt: 1, outcome: failed, reason: Evicted, category: evicted, evidence: attempt-1}
restarts:
  description: How often Kubernetes or an operator started parts of the workload again, within this attempt.
  returned: outside check mode
  type: int
  sample: 0
progress:
  description: The last report that O(progress) found; C(rate) is per second.
  returned: when there was one
  type: dict
  sample: {done: 420, total: 1000, rate: 3.1, at: "2026-11-21T09:20:11Z"}
plan:
  description: What would be done, with the rendered objects.
  returned: in check mode
  type: dict
  sample: {action: install, why: not installed, workload: MPIJob/mpijob-digits, objects: [ConfigMap/x, MPIJob/y]}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._core.limits import options
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import helm_step
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import ADOPT, CLUSTER, FOLLOW, HELM, RETRY, SOURCE

ARGUMENT_SPEC = {
    **ADOPT,
    **CLUSTER,
    **FOLLOW,
    **HELM,
    **RETRY,
    **SOURCE,
    "release": {"type": "str", "required": True},
    "step": {"type": "str"},
    "recipe": {"type": "list", "elements": "path"},
    "values": {"type": "dict"},
    "secrets": {
        "type": "list",
        "elements": "dict",
        # Only `data` is secret.
        "no_log": False,
        "options": {
            "name": {"type": "str", "required": True},
            "type": {"type": "str"},
            "data": {"type": "dict", "no_log": True},
            "keys": {"type": "list", "elements": "str", "no_log": False},
        },
    },
    "keep": {"type": "bool"},
    "workload": {"type": "str"},
    "cleanup": {"type": "str", "choices": ["always", "on_success", "never"], "default": "always"},
    "force": {"type": "bool", "default": False},
    "allow_lookup": {"type": "bool", "default": False},
    "replace": {"type": "bool", "default": False},
    "after": {"type": "list", "elements": "str"},
    "later_releases": {"type": "list", "elements": "str"},
    "pipeline": {"type": "str"},
    "index": {"type": "int", "default": 1},
    "total": {"type": "int", "default": 1},
    **options("lock_timeout", "ready_timeout"),
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        how = {"check": module.check_mode, "diff": module._diff, "private": module.no_log}
        result = helm_step(module.params, cluster="cluster", say=module.debug, **how)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
