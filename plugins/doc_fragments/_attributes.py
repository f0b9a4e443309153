# Copyright (c) 2026 mlops.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """What the modules support."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and say what would be done without doing it.
    support: full
  diff_mode:
    description: Will return details on what has changed (or would in check mode), when in diff mode.
    support: full
  idempotent:
    description: The second run with the same arguments reports no change.
    support: full
  async:
    description: Can run in the background by C(async). What is interrupted goes on when the task is run again.
    support: none
  connection:
    description:
      - With a local connection it runs in the controller's worker and prints while it works; C(environment) counts.
      - Over another connection, or when C(become) makes it another user, the module runs there without live output.
    support: full
"""
    INFO = r"""
options: {}
attributes:
  check_mode:
    description: Does not modify anything, in check mode or out of it.
    support: full
  diff_mode:
    description: Nothing is changed, so there is no diff.
    support: none
  idempotent:
    description: Nothing is changed.
    support: full
  async:
    description: Can run in the background by C(async). What is interrupted goes on when the task is run again.
    support: none
  connection:
    description:
      - With a local connection it runs in the controller's worker and prints while it works; C(environment) counts.
      - Over another connection, or when C(become) makes it another user, the module runs there without live output.
    support: full
"""
