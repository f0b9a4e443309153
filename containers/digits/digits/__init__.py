# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Handwritten digits: data, data-parallel training over MPI, evaluation, serving and a call.

Layers, each importing only those left of it: `errors → dataset, model, checkpoint → data, train, evaluate, serve, call`.
"""
