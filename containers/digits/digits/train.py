# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `train`: data-parallel stochastic gradient descent with momentum.

Every rank holds the whole model and takes its share of each batch; one all-reduce per batch adds up gradient, loss and
hits. The order of the samples and their shifts depend on seed and epoch alone, so neither the number of ranks nor
being killed and resumed changes what is computed. After SIGTERM to any rank all of them end with the epoch they are in,
whose checkpoint is saved.

Start it under `python3 -m mpi4py`: an error on one rank then ends all of them instead of leaving them waiting.
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import FrameType

import numpy as np

from digits import checkpoint, dataset, model
from digits.checkpoint import Checkpoint, Settings
from digits.dataset import Digits
from digits.errors import DigitsError, run
from digits.world import Mpi, World


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Means over one epoch's training samples."""

    loss: float
    accuracy: float


def train_epoch(state: Checkpoint, digits: Digits, world: World) -> tuple[Checkpoint, Progress]:
    """Return the state one epoch later and how the epoch went."""
    settings, epoch = state.settings, state.epoch + 1
    generator = np.random.default_rng([settings.seed, epoch])
    order = generator.permutation(len(digits))
    shifts = generator.integers(-1, 2, (len(digits), 2))
    parameters, velocity = state.parameters, state.velocity
    loss = correct = 0.0
    for start in range(0, len(digits), settings.batch_size):
        batch = order[start : start + settings.batch_size]
        mine = batch[world.rank :: world.size]
        inputs = model.inputs_of(model.shifted(digits.images[mine], shifts[mine]))
        part = model.gradient(settings.layers, parameters, inputs, digits.labels[mine])
        total = world.sum(np.append(part.parameters, [part.loss, part.correct]))
        velocity = settings.momentum * velocity - settings.learning_rate / len(batch) * total[:-2]
        parameters = parameters + velocity
        loss, correct = loss + total[-2], correct + total[-1]
    after = Checkpoint(epoch=epoch, settings=settings, parameters=parameters, velocity=velocity)
    return after, Progress(loss=loss / len(digits), accuracy=correct / len(digits))


def start_state(directory: Path, settings: Settings, world: World) -> Checkpoint:
    """Return the newest checkpoint, or a new model; rank 0 reads and tells the others.

    Raises:
        DigitsError: the checkpoint was trained with other settings.
    """
    count = model.parameter_count(settings.layers)
    packed = np.zeros(1 + 2 * count)
    if world.rank == 0:
        found = checkpoint.newest(directory)
        if found is None:
            packed[1 : 1 + count] = model.initial(settings.layers, seed=settings.seed)
        else:
            _check_settings(directory, found.settings, settings)
            packed[:] = np.concatenate([[found.epoch], found.parameters, found.velocity])
    packed = world.broadcast(packed)
    return Checkpoint(
        epoch=int(packed[0]), settings=settings, parameters=packed[1 : 1 + count], velocity=packed[1 + count :]
    )


class Stop:
    """Whether this process was told to end, from the moment on at which it was made."""

    def __init__(self) -> None:
        self._told = False
        signal.signal(signal.SIGTERM, self._tell)

    def __call__(self) -> bool:
        """Return whether it was."""
        return self._told

    def _tell(self, _number: int, _frame: FrameType | None) -> None:
        self._told = True


def train(
    *,
    digits: Digits,
    settings: Settings,
    epochs: int,
    checkpoints: Path,
    world: World,
    stop: Callable[[], bool] = lambda: False,
) -> Checkpoint:
    """Train until `epochs` are done in all or `stop` says so, with a checkpoint after each; return the last state."""
    state = start_state(checkpoints, settings, world)
    say = print if world.rank == 0 else _say_nothing
    layers = "-".join(str(width) for width in settings.layers)
    say(f"{len(digits)} images, network {layers}, {len(state.parameters)} parameters, {world.size} ranks", flush=True)
    if state.epoch:
        say(f"resuming after epoch {state.epoch} from {checkpoints}", flush=True)
    if state.epoch >= epochs:
        say(f"nothing to train: {epochs} epochs were asked for", flush=True)
    begun = time.monotonic()
    for epoch in range(state.epoch + 1, epochs + 1):
        epoch_begun = time.monotonic()
        state, progress = train_epoch(state, digits, world)
        if world.rank == 0:
            checkpoint.save(checkpoints, state)
        speed = len(digits) / (time.monotonic() - epoch_begun)
        say(
            f"epoch {epoch:{len(str(epochs))}d}/{epochs}  loss {progress.loss:.4f}  accuracy {progress.accuracy:.4f}"
            f"  {speed:,.0f} images/s",
            flush=True,
        )
        # Ranks are told one by one, and go on or end together.
        if world.sum(np.array([float(stop())]))[0]:
            say(f"caught SIGTERM: ending after epoch {epoch}, checkpoint saved", flush=True)
            break
    say(f"trained to epoch {state.epoch} in {time.monotonic() - begun:.1f} s; checkpoints in {checkpoints}", flush=True)
    return state


def main(argv: list[str] | None = None) -> None:
    """Train on all ranks of MPI's world."""
    parser = argparse.ArgumentParser(prog="digits.train", description="Train on the digits; resumes by itself.")
    parser.add_argument("--data", type=Path, required=True, help="file that digits.data wrote")
    parser.add_argument("--checkpoints", type=Path, required=True, help="directory of the checkpoints")
    parser.add_argument("--epochs", type=_positive, default=60, help="epochs in all, resumed ones included")
    parser.add_argument("--batch-size", type=_positive, default=64, help="samples per update, over all ranks")
    parser.add_argument("--hidden", type=_positive, nargs="+", default=[256], help="widths of the hidden layers")
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)

    world, stop = Mpi(), Stop()
    digits = dataset.load(options.data, "train")
    settings = Settings(
        layers=(dataset.PIXELS, *options.hidden, dataset.CLASSES),
        batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        momentum=options.momentum,
        seed=options.seed,
        data_sha256=hashlib.sha256(digits.images.tobytes() + digits.labels.tobytes()).hexdigest(),
    )
    train(
        digits=digits,
        settings=settings,
        epochs=options.epochs,
        checkpoints=options.checkpoints,
        world=world,
        stop=stop,
    )


def _check_settings(directory: Path, found: Settings, wanted: Settings) -> None:
    """Refuse to go on from weights that these settings would not have made."""
    before, after = asdict(found), asdict(wanted)
    changed = [
        f"{field.name} {before[field.name]} (now {after[field.name]})"
        for field in fields(Settings)
        if before[field.name] != after[field.name]
    ]
    if changed:
        raise DigitsError(
            f"The checkpoints in {directory} were trained with {', '.join(changed)}. "
            "Restore these settings, choose another release, or remove the directory to train anew."
        )


def _positive(text: str) -> int:
    """Parse a whole number above zero."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return number


def _say_nothing(*_values: object, flush: bool = False) -> None:
    """Stand in for `print` on every rank but the first."""


if __name__ == "__main__":
    run(main)
