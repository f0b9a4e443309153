#!/usr/bin/python
# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: container_image
short_description: Build a container image without a registry
description:
  - Builds an OCI archive in the cache, either from a C(Containerfile) or from statically linked programs alone.
  - The archive's name contains a hash of everything it is made from; an archive that exists is up to date.
  - A C(Containerfile) must start from C(debian:RELEASE) or C(debian:RELEASE-slim), made by mmdebstrap.
    C(RUN) uses this machine's network and Debian mirror; neither is left in the image.
  - The build secrets C(pip.conf) and C(ca.pem) hold this machine's settings for its Python package index.
version_added: 0.1.0
author:
  - mlops.eks contributors (@mlops-eks)
extends_documentation_fragment:
  - mlops.eks._attributes
options:
  name:
    description: Full name of the image, as pods name it.
    type: str
    required: true
  context:
    description: Directory with a C(Containerfile).
    type: path
  files:
    description: Files of an image that starts from nothing, by their path in the image.
    type: dict
  entrypoint:
    description: Command of an image made of O(files).
    type: list
    elements: str
  user:
    description: User of an image made of O(files), C(UID:GID). When omitted, root.
    type: str
  cache_dir:
    description:
      - Directory of the build cache.
      - When omitted, C($MLOPS_EKS_CACHE), else C(mlops-eks) below C($XDG_CACHE_HOME) or C(~/.cache).
    type: path
"""

EXAMPLES = r"""
- name: Build the image of the demo
  mlops.eks.container_image:
    name: localhost/mlops-eks/digits:0.1.0
    context: containers/digits

- name: Build the sandbox image from one program
  mlops.eks.container_image:
    name: localhost/mlops-eks/pause:0.1.0
    files:
      /pause: "{{ tools.programs.pause }}"
    entrypoint: [/pause]
"""

RETURN = r"""
archive:
  description: Path of the archive; none in check mode when its files do not exist yet.
  returned: success
  type: str
  sample: /home/me/.cache/mlops-eks/images/localhost-mlops-eks-digits-0.1.0-0123456789ab.tar
name:
  description: Full name of the image.
  returned: success
  type: str
  sample: localhost/mlops-eks/digits:0.1.0
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._local.entrypoints import container_image

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "context": {"type": "path"},
    "files": {"type": "dict"},
    "entrypoint": {"type": "list", "elements": "str"},
    "user": {"type": "str"},
    "cache_dir": {"type": "path"},
}
SPEC_RULES = {
    "mutually_exclusive": [["context", "files"], ["context", "entrypoint"], ["context", "user"]],
    "required_one_of": [["context", "files"]],
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True, **SPEC_RULES)
    try:
        result = container_image(module.params, check=module.check_mode, say=module.debug)
    except EksError as error:
        module.fail_json(**error.to_result())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
