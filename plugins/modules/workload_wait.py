#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: workload_wait
short_description: Follow a workload that was submitted elsewhere to its end
description:
  - Watches a workload until it has succeeded, is ready, or has failed, and keeps the evidence.
  - Known are Job, MPIJob, PyTorchJob and the other jobs of the training operator, TrainJob, JobSet, RayJob, RayService,
    RayCluster, LeaderWorkerSet, Deployment, StatefulSet, InferenceService and Pod. Any other kind takes O(api_version),
    O(until) and, where it can fail, O(fail_on).
  - With a local connection the log of its leader is printed live.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes.info
  - mlops.eks._cluster
  - mlops.eks._cluster.namespace
  - mlops.eks._follow
options:
  name:
    description: Name of the workload.
    type: str
    required: true
  kind:
    description: Kind of the workload, for example V(Job) or V(PyTorchJob).
    type: str
    required: true
  api_version:
    description: API version; needed where the kind alone is ambiguous, and for a kind that is not known.
    type: str
"""

EXAMPLES = r"""
- name: Wait for a Job
  mlops.eks.workload_wait:
    kubeconfig: ~/.kube/train-usw2.yaml
    kind: Job
    name: nightly-report
    timeout: 3600

- name: Wait for a workload of any kind
  mlops.eks.workload_wait:
    kubeconfig: ~/.kube/train-usw2.yaml
    api_version: argoproj.io/v1alpha1
    kind: Workflow
    name: nightly
    until: jsonpath={.status.phase}=Succeeded
    fail_on: ["jsonpath={.status.phase}=Failed", "jsonpath={.status.phase}=Error"]
"""

RETURN = r"""
outcome:
  description: How the workload ended.
  returned: always
  type: str
  sample: succeeded
cause:
  description: Why it did not reach its goal.
  returned: when it failed
  type: dict
  sample: {reason: Error, object: Pod/nightly-report-x2x4z, container: main, message: it ended with exit code 3.}
evidence:
  description: Directory with the final workload, pods, events and logs.
  returned: always
  type: str
  sample: runs/20261121T091502-nightly-report-3f9a/local/01-nightly-report
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import workload_wait
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import CLUSTER, FOLLOW

ARGUMENT_SPEC = {
    **CLUSTER,
    **FOLLOW,
    "name": {"type": "str", "required": True},
    "kind": {"type": "str", "required": True},
    "api_version": {"type": "str"},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = workload_wait(module.params, cluster="cluster", say=module.debug, private=module.no_log)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
