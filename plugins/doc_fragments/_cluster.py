# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options every task that talks to a cluster shares."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - Path of the kubeconfig of the cluster. It must be given here, by C(module_defaults), or by the host variable
        C(kubeconfig) as in the playbooks; the user's own C(~/.kube/config) is never used by default.
    type: path
  context:
    description: Context within O(kubeconfig). When omitted, its current context.
    type: str
  api_retry_timeout:
    description: Seconds a request is repeated while the cluster does not answer. V(0) for no limit.
    type: float
    default: 60
  redact:
    description:
      - Secrets to mask in every line, in the evidence and in the result, however they are quoted, escaped or
        encoded; they are replaced by V(********).
      - Also masked are values of the Kubernetes Secrets that the pods refer to (from 6 characters on);
        vaulted values among the task's arguments and the host's variables, if they were encrypted one by one and not as
        a whole file; secrets of the kubeconfig; and values of environment variables whose names mark them as a token,
        a password or the like.
    type: list
    elements: str
"""

    NAMESPACE = r"""
options:
  namespace:
    description: Namespace to work in.
    type: str
    default: default
"""

    HELM = r"""
options:
  helm_binary:
    description:
      - Path of the C(helm) program, of version 4.
      - When omitted, E(MLOPS_EKS_HELM), the one built by this project, or the one on E(PATH).
      - Of Helm's own variables only those apply that set the place of logins, repositories, plugins and caches, such as
        E(HELM_REGISTRY_CONFIG) and E(HELM_REPOSITORY_CONFIG). Variables for proxies and certificates apply as for any
        program.
    type: path
"""
