# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""Requests to AWS. Modules import this package first, so that the Python version is checked before anything else."""

from ansible_collections.mlops.eks.plugins.module_utils import _core  # noqa: F401
