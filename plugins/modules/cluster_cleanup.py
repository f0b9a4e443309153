#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_cleanup
short_description: Make a cluster remove what it made outside of itself
description:
  - Deletes Services of type LoadBalancer, Ingresses and Gateways, then volumes that were made dynamically, with their
    claims and whatever uses them, then Karpenter's pools, nodes and EC2NodeClasses; and waits until their controllers
    have removed the resources behind them.
  - Where Karpenter drains nodes, PodDisruptionBudgets are deleted before; evicted pods start nowhere else, so
    a budget could keep a node without limit.
  - Volumes with the reclaim policy Retain and what was made by hand stay, as do the pools of EKS Auto Mode.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
  - mlops.eks._cluster
  - mlops.eks._cluster.namespace
options:
  timeout:
    description: Seconds to wait for load balancers and volumes, and again for nodes. V(0) for no limit.
    type: float
    default: 900
"""

EXAMPLES = r"""
- name: Remove load balancers, volumes and nodes
  mlops.eks.cluster_cleanup:
    kubeconfig: clusters/train-usw2/kubeconfig
"""

RETURN = r"""
deleted:
  description: Objects that were deleted.
  returned: success
  type: list
  elements: str
  sample: [Service default/web, StatefulSet default/db, PersistentVolumeClaim default/data-db-0, NodePool gpu]
left:
  description: Objects that were not gone in time, and what they wait for.
  returned: when there are some
  type: list
  elements: str
  sample: ["PersistentVolume pvc-0a1b2c3d waits for the CSI driver (finalizers: kubernetes.io/pv-protection)"]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._engine.entrypoints import cluster_cleanup
from ansible_collections.mlops.eks.plugins.module_utils._plan.argspec import CLUSTER

ARGUMENT_SPEC = {**CLUSTER, "timeout": {"type": "float", "default": 900}}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = cluster_cleanup(module.params, cluster="cluster", check=module.check_mode, say=module.debug)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
