# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """Options every task that asks AWS shares."""

    DOCUMENTATION = r"""
options:
  region:
    description: AWS region of the cluster.
    type: str
    required: true
  profile:
    description: AWS profile. When omitted, the environment decides.
    type: str
"""
