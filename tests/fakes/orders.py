"""Other valid orders of the changes of a workload, as an API server and its watches may deliver them.

The order of the changes of one object, and that of all events, is fixed: each kind of object has its own watch, which
reports the changes of an object once and in order (`_kube/watch.py`). Any other order may change.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from fakes.replay import News, key, streams

from ansible_collections.mlops.eks.plugins.module_utils._follow import changes

Order = Callable[[Sequence[News], random.Random], list[News]]


def interleaved(found: Sequence[News], dice: random.Random) -> list[News]:
    """Watches are independent: changes of different objects come in any order, at the recorded times."""
    left, merged = streams(found), []
    for at in [change.at for change in found]:
        stream = dice.choice([one for one in left if one])
        merged.append(replace(stream.pop(0), at=at))
    return merged


def stuttered(found: Sequence[News], dice: random.Random) -> list[News]:
    """Changes come twice or three times, as after a lost connection."""
    return [change for change in found for _ in range(dice.choice((1, 1, 2, 3)))]


def thinned(found: Sequence[News], dice: random.Random) -> list[News]:
    """Of changes within a short time only the last comes, as in a list after a lost connection."""
    newest = {key(change): index for index, change in enumerate(found)}
    passing = (changes.PodSeen, changes.WorkloadSeen)
    return [
        change
        for index, change in enumerate(found)
        if not isinstance(change, passing) or newest[key(change)] == index or dice.random() < 0.7
    ]


def _listed(found: Sequence[News], dice: random.Random) -> list[News]:
    """The lists after these changes, in any order: the last state of each object, and every event."""
    known: dict[str, News] = {}
    for change in found:
        known.pop(key(change), None)
        # A workload that was there and is not listed any more is reported as gone.
        if not isinstance(change, changes.PodGone):
            known[key(change)] = change
    events = [change for change in found if isinstance(change, changes.EventSeen)]
    objects = [change for change in known.values() if not isinstance(change, changes.EventSeen)]
    mixed = [*objects, *events]
    dice.shuffle(mixed)
    return [replace(change, at=found[-1].at) for change in mixed]


def relisted(found: Sequence[News], dice: random.Random) -> list[News]:
    """All watches restart with a list in the middle (410 Gone)."""
    cut = dice.randrange(1, len(found)) if len(found) > 1 else 1
    return [*found[:cut], *_listed(found[:cut], dice), *found[cut:]]


def reattached(found: Sequence[News], dice: random.Random) -> list[News]:
    """Another controller continues in the middle, and starts with lists."""
    cut = dice.randrange(1, len(found)) if len(found) > 1 else 1
    return [*_listed(found[:cut], dice), *found[cut:]]


def disturbed(found: Sequence[News], dice: random.Random) -> list[News]:
    """All disturbances together."""
    for order in (thinned, interleaved, stuttered, dice.choice((relisted, reattached))):
        found = order(found, dice)
    return list(found)


ORDERS: tuple[Order, ...] = (interleaved, stuttered, thinned, relisted, reattached, disturbed)
