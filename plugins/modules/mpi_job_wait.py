#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: mpi_job_wait
short_description: Follow an MPIJob that somebody else submitted to its end
description:
  - Watches an MPIJob (C(kubeflow.org/v2beta1)) until it has succeeded or failed, and keeps the evidence.
  - With a local connection the log of its launcher is printed live.
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
    description: Name of the MPIJob.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Wait for an MPIJob
  mlops.eks.mpi_job_wait:
    kubeconfig: ~/.kube/train-usw2.yaml
    name: hello
    timeout: 3600
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
  sample: {reason: Error, object: Pod/hello-worker-1, container: worker, message: it ended with exit code 3.}
evidence:
  description: Directory with the final workload, pods, events and logs.
  returned: always
  type: str
  sample: runs/20261121T091502-hello-3f9a/local/01-hello
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import workload_wait
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import CLUSTER, FOLLOW

ARGUMENT_SPEC = {
    **CLUSTER,
    **FOLLOW,
    "name": {"type": "str", "required": True},
}
WORKLOAD = {"kind": "MPIJob", "api_version": "kubeflow.org/v2beta1"}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        params = {**module.params, **WORKLOAD}
        result = workload_wait(params, cluster="cluster", say=module.debug, private=module.no_log)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
