#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: native_cluster
short_description: Run a real Kubernetes cluster on this machine without Docker
description:
  - Starts etcd, the Kubernetes control plane, containerd, kubelet, kube-proxy and CoreDNS as processes in a network
    namespace of their own. They outlive the play.
  - Several clusters run side by side; the host's network and packet filter are not changed.
  - Each further node has a network namespace, a containerd, a kubelet and a kube-proxy of its own.
  - O(state=present) starts a cluster from any state it was left in, and O(state=absent) removes all of it.
  - Needs root on Linux, the Debian packages containerd, runc, iptables and containernetworking-plugins, and the
    programs built by M(mlops.eks.go_tool).
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
options:
  name:
    description: Name of the cluster, of its kubeconfig's context and of everything it makes on the machine.
    type: str
    default: local
  state:
    description: Whether the cluster must run.
    type: str
    choices: [present, absent]
    default: present
  nodes:
    description:
      - Number of nodes, 1 to 16. The control plane runs on the first, beside its pods.
      - The number of an existing cluster cannot be changed. When omitted, the present number; 1 for a new cluster.
      - With several, a node that goes silent is C(NotReady) after 12 seconds and its pods are evicted 8 seconds later,
        instead of 50 and 300; Kubernetes' own times are kept with one.
    type: int
  namespace:
    description: Namespace to create, with the claims C(pv-fsx) and C(pv-efs) bound. When omitted, none is.
    type: str
  images:
    description: OCI archives to import, as built by M(mlops.eks.container_image). The sandbox image must be among them.
    type: list
    elements: path
    default: []
  state_dir:
    description: Directory that holds one directory for each cluster.
    type: path
    default: /var/lib/mlops-eks
  cache_dir:
    description:
      - Directory of the build cache.
      - When omitted, C($MLOPS_EKS_CACHE), else C(mlops-eks) below C($XDG_CACHE_HOME) or C(~/.cache).
    type: path
  tools_dir:
    description: Directory with one Go module per tool. When omitted, C(tools/) of this collection.
    type: path
"""

EXAMPLES = r"""
- name: Start the cluster dev
  mlops.eks.native_cluster:
    name: dev
    namespace: team-a
    images: "{{ archives }}"
  register: local

- name: Start a cluster of three nodes
  mlops.eks.native_cluster:
    name: three
    nodes: 3
    images: "{{ archives }}"

- name: Remove the cluster dev
  mlops.eks.native_cluster:
    name: dev
    state: absent
"""

RETURN = r"""
cluster:
  description: What a play needs to use the cluster.
  returned: when O(state=present)
  type: dict
  sample:
    name: dev
    kubeconfig: /var/lib/mlops-eks/dev/kubeconfig
    context: dev
    namespace: team-a
    server: https://198.18.0.2:6443
    node: dev-1
    nodes: [dev-1]
    pod_cidr: 10.64.0.0/16
    service_cidr: 10.128.0.0/16
seconds:
  description: Seconds that the task took.
  returned: success
  type: float
  sample: 9.4
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._local.entrypoints import native_cluster

ARGUMENT_SPEC = {
    "name": {"type": "str", "default": "local"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "nodes": {"type": "int"},
    "namespace": {"type": "str"},
    "images": {"type": "list", "elements": "path", "default": []},
    "state_dir": {"type": "path", "default": "/var/lib/mlops-eks"},
    "cache_dir": {"type": "path"},
    "tools_dir": {"type": "path"},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = native_cluster(module.params, check=module.check_mode, say=module.debug)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
