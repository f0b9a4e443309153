# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""The digits of `containers/digits` with PyTorch: DistributedDataParallel over gloo, and evaluation.

The data step is the other image's: both read the same `digits.npz`.
"""
