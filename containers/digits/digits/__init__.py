# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Handwritten digits: data, data-parallel training over MPI, evaluation, serving and a call.

Each layer imports only those left of it:
`errors → files → dataset → model → checkpoint, world → data, train, evaluate, serve, call`.
"""
