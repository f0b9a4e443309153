#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: run_info
short_description: List the runs of a cluster with their steps and outcomes
description:
  - Reads the ledgers that M(mlops.eks.helm_step) keeps in the cluster.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes.info
  - mlops.eks._cluster
options:
  release:
    description: Only this run. When omitted, the run of O(pipeline), else all.
    type: str
  namespace:
    description: Namespace to work in. When omitted, that of O(pipeline), else V(default).
    type: str
  pipeline:
    description:
      - Directory of the pipeline that was run. Its name is the run's when O(release) is omitted, and where it names a
        namespace, the run is looked for there.
    type: path
  all_namespaces:
    description: Look in every namespace instead of O(namespace).
    type: bool
    default: false
  node_groups:
    description:
      - Only steps that run, wait for their next attempt or serve on nodes of these managed node groups of EKS, by the
        names that EKS gives them. Steps without pods count as well, because their pods may start there.
      - It needs the right to list nodes and pods.
    type: list
    elements: str
  show:
    description: Print the table as well, with a local connection.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: List the runs
  mlops.eks.run_info:
    kubeconfig: ~/.kube/train-usw2.yaml
    namespace: kubeflow-user-example-com
"""

RETURN = r"""
runs:
  description: One entry per step; with O(node_groups), C(nodes) are the nodes of the groups on which its pods are.
  returned: always
  type: list
  elements: dict
  sample:
    - {release: accel-bert, step: train, outcome: running, took: 3 h 4 min, by: ada@ctl-1}
table:
  description: The same as aligned lines of text, or the namespaces with runs when there are none in this one.
  returned: always
  type: list
  elements: str
  sample: ["RELEASE     STEP   OUTCOME  TOOK     AGE  BY", "accel-bert  train  running  1 h 4 m  -    ada@ctl"]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import run_info
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import RUN

ARGUMENT_SPEC = {
    **RUN,
    "all_namespaces": {"type": "bool", "default": False},
    "node_groups": {"type": "list", "elements": "str"},
    "show": {"type": "bool", "default": False},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = run_info(module.params)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
