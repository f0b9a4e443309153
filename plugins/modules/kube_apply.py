#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kube_apply
short_description: Apply an operator's own manifests and wait until it is ready
description:
  - Renders files, kustomize directories or URLs through C(kubectl kustomize) with the patches given, applies the result
    server-side, custom resource definitions first, and waits for deployments.
  - C(kubectl diff) decides whether anything changes, so a field that the operator itself fills in later is left alone.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
options:
  name:
    description: Name of the operator, for messages.
    type: str
    required: true
  resources:
    description: Manifest files, kustomize directories or URLs.
    type: list
    elements: str
    required: true
  kustomization:
    description:
      - Other fields of the kustomization, such as C(namespace), C(images) and C(secretGenerator).
      - C(resources) and C(patches) have options of their own.
    type: dict
  patches:
    description: Patches in the form of a kustomization's C(patches); C(patch) may be text, or a mapping or list.
    type: list
    elements: dict
    default: []
  deployments:
    description: Deployments to wait for.
    type: list
    elements: dict
    default: []
    suboptions:
      namespace:
        description: Namespace of the deployment.
        type: str
        required: true
      name:
        description: Name of the deployment.
        type: str
        required: true
  timeout:
    description: Seconds to wait for the deployments. V(0) for no limit.
    type: float
    default: 180
  kubeconfig:
    description: Path of the kubeconfig.
    type: path
    required: true
  context:
    description: Context within the kubeconfig. When omitted, its current one.
    type: str
  kubectl_binary:
    description: The kubectl to use. When omitted, the one built by M(mlops.eks.go_tool), else the one on C(PATH).
    type: path
  cache_dir:
    description:
      - Directory of the build cache.
      - When omitted, C($MLOPS_EKS_CACHE), else C(mlops-eks) below C($XDG_CACHE_HOME) or C(~/.cache).
    type: path
"""

EXAMPLES = r"""
- name: Install the mpi-operator
  mlops.eks.kube_apply:
    name: mpi-operator
    kubeconfig: ~/.kube/train-usw2.yaml
    resources:
      - https://raw.githubusercontent.com/kubeflow/mpi-operator/v0.8.0/deploy/v2beta1/mpi-operator.yaml
    deployments:
      - namespace: mpi-operator
        name: mpi-operator
"""

RETURN = r"""
diff:
  description: What changed, or would in check mode, as C(kubectl diff) prints it.
  returned: success
  type: dict
  sample: {prepared: ""}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._local.entrypoints import kube_apply

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "resources": {"type": "list", "elements": "str", "required": True},
    "kustomization": {"type": "dict"},
    "patches": {"type": "list", "elements": "dict", "default": []},
    "deployments": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "namespace": {"type": "str", "required": True},
            "name": {"type": "str", "required": True},
        },
    },
    "timeout": {"type": "float", "default": 180},
    "kubeconfig": {"type": "path", "required": True},
    "context": {"type": "str"},
    "kubectl_binary": {"type": "path"},
    "cache_dir": {"type": "path"},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = kube_apply(module.params, check=module.check_mode, say=module.debug)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
