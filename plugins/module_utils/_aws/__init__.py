# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""What is asked of AWS. Modules import from here before anything else, so the version of Python is checked first."""

from ansible_collections.mlops.eks.plugins.module_utils import _core  # noqa: F401
