# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `train`: DistributedDataParallel, one process per rank.

The ranks find each other by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which the operator (or torchrun) sets.
Every epoch ends with a checkpoint; started again, training goes on after the newest one. After SIGTERM to any rank all
of them end with the epoch they are in, as failed: a master that ended well would have the operator call the job done.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from digits_torch.network import DigitsError, load_checkpoint, load_data, network, run, save_checkpoint

# What a shell makes of a program that SIGTERM ended.
_ENDED_BY_SIGTERM = 128 + signal.SIGTERM


class Stop:
    """Whether any rank was told to end, from the moment on at which this was made."""

    def __init__(self) -> None:
        self._told = False
        signal.signal(signal.SIGTERM, self._tell)

    def agreed(self) -> bool:
        """Return whether one was: the same on all ranks, which are told one by one, and all have to ask."""
        told = torch.tensor(float(self._told))
        distributed.all_reduce(told)
        return bool(told)

    def _tell(self, _number: int, _frame: FrameType | None) -> None:
        self._told = True


def shifted(images: torch.Tensor) -> torch.Tensor:
    """Move a batch by -1, 0 or 1 pixels down and right; what enters is dark. It is the same digit one pixel away."""
    down, right = torch.randint(0, 3, (2,)).tolist()
    padded = nn.functional.pad(images.view(-1, 8, 8), (1, 1, 1, 1))
    return padded[:, down : down + 8, right : right + 8].reshape(-1, 64)


def train_epoch(
    model: DistributedDataParallel, optimizer: torch.optim.Optimizer, loader: DataLoader
) -> tuple[float, float]:
    """Train on this rank's share of one epoch; return loss and accuracy over all ranks' shares."""
    sums = torch.zeros(3, dtype=torch.float64)
    for images, labels in loader:
        scores = model(shifted(images))
        loss = nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()  # averages the gradients of all ranks
        optimizer.step()
        hits = (scores.argmax(dim=1) == labels).sum()
        sums += torch.tensor([loss.item() * len(labels), hits.item(), len(labels)], dtype=torch.float64)
    distributed.all_reduce(sums)
    return float(sums[0] / sums[2]), float(sums[1] / sums[2])


def train(options: argparse.Namespace, stop: Stop) -> bool:
    """Train until `options.epochs` are done in all, or until `stop`; return whether they are."""
    rank, size = distributed.get_rank(), distributed.get_world_size()
    say: Callable[[str], None] = (lambda line: print(line, flush=True)) if rank == 0 else (lambda _line: None)
    dataset = load_data(options.data, "train")
    sampler: DistributedSampler = DistributedSampler(dataset, seed=options.seed)
    loader: DataLoader = DataLoader(dataset, batch_size=max(1, options.batch_size // size), sampler=sampler)

    torch.manual_seed(options.seed)
    model = DistributedDataParallel(network(options.hidden))
    optimizer = torch.optim.SGD(model.parameters(), lr=options.learning_rate, momentum=options.momentum)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    say(f"{len(dataset)} images, {parameters} parameters, {size} ranks, PyTorch {torch.__version__}")

    state, done = load_checkpoint(options.checkpoints), 0
    if state is not None:
        if state["hidden"] != options.hidden:
            raise DigitsError(
                f"The checkpoint in {options.checkpoints} has hidden layers {state['hidden']}, not {options.hidden}. "
                "Restore them, choose another release, or remove the directory to train anew."
            )
        model.module.load_state_dict(state["model"])
        groups = optimizer.state_dict()["param_groups"]  # rates come from the recipe, so they may change on the way
        optimizer.load_state_dict({"state": state["momentum"], "param_groups": groups})
        done = state["epoch"]
        say(f"resuming after epoch {done} from {options.checkpoints}")

    begun = time.monotonic()
    for epoch in range(done + 1, options.epochs + 1):
        sampler.set_epoch(epoch)
        torch.manual_seed(options.seed + epoch)  # resumed or not, an epoch draws the same shifts
        loss, accuracy = train_epoch(model, optimizer, loader)
        say(f"epoch {epoch:{len(str(options.epochs))}d}/{options.epochs}  loss {loss:.4f}  accuracy {accuracy:.4f}")
        if rank == 0:
            saved = {"model": model.module.state_dict(), "momentum": optimizer.state_dict()["state"]}
            save_checkpoint(options.checkpoints, {**saved, "epoch": epoch, "hidden": options.hidden})
        if stop.agreed() and epoch < options.epochs:
            say(f"caught SIGTERM: ending after epoch {epoch}, checkpoint saved")
            return False
    say(f"trained to epoch {max(done, options.epochs)} in {time.monotonic() - begun:.1f} s")
    return True


def main(argv: list[str] | None = None) -> None:
    """Join the other ranks and train."""
    parser = argparse.ArgumentParser(prog="digits_torch.train", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="file that the data step wrote")
    parser.add_argument("--checkpoints", type=Path, required=True, help="directory of the checkpoint")
    parser.add_argument("--epochs", type=int, default=60, help="epochs in all, resumed ones included")
    parser.add_argument("--batch-size", type=int, default=64, help="samples per update, over all ranks")
    parser.add_argument("--hidden", type=int, nargs="+", default=[256], help="widths of the hidden layers")
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)

    stop = Stop()
    distributed.init_process_group("gloo")
    try:
        finished = train(options, stop)
        distributed.barrier()  # nobody leaves while rank 0 still writes
    finally:
        distributed.destroy_process_group()
    if not finished:
        sys.exit(_ENDED_BY_SIGTERM)


if __name__ == "__main__":
    run(main)
