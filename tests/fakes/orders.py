"""Other ways in which the same life of a workload may be told: what an API server and its watches may do to news.

Kept is the order of the news of one object, and that of all events: each kind of object has a watch of its own, and of
one object a watch tells nothing twice or late (`_kube/watch.py`). Everything else is free.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from fakes.replay import News, key, streams

from ansible_collections.mlops.eks.plugins.module_utils._follow import changes

Order = Callable[[Sequence[News], random.Random], list[News]]


def interleaved(found: Sequence[News], dice: random.Random) -> list[News]:
    """Watches are not in step: news of different objects come in any order, at the moments at which news came."""
    left, merged = streams(found), []
    for at in [change.at for change in found]:
        stream = dice.choice([one for one in left if one])
        merged.append(replace(stream.pop(0), at=at))
    return merged


def stuttered(found: Sequence[News], dice: random.Random) -> list[News]:
    """News come twice or three times, as after a lost connection."""
    return [change for change in found for _ in range(dice.choice((1, 1, 2, 3)))]


def thinned(found: Sequence[News], dice: random.Random) -> list[News]:
    """Of what followed shortly on each other only the last is told, as by a list after a connection was lost."""
    newest = {key(change): index for index, change in enumerate(found)}
    passing = (changes.PodSeen, changes.WorkloadSeen)
    return [
        change
        for index, change in enumerate(found)
        if not isinstance(change, passing) or newest[key(change)] == index or dice.random() < 0.7
    ]


def _listed(found: Sequence[News], dice: random.Random) -> list[News]:
    """What lists show after these news, in any order: of each object the last view, and every event."""
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
    """In the middle all watches begin again with a list (410 Gone)."""
    cut = dice.randrange(1, len(found)) if len(found) > 1 else 1
    return [*found[:cut], *_listed(found[:cut], dice), *found[cut:]]


def reattached(found: Sequence[News], dice: random.Random) -> list[News]:
    """Another controller goes on in the middle, and sees first what lists show."""
    cut = dice.randrange(1, len(found)) if len(found) > 1 else 1
    return [*_listed(found[:cut], dice), *found[cut:]]


def disturbed(found: Sequence[News], dice: random.Random) -> list[News]:
    """All of it together."""
    for order in (thinned, interleaved, stuttered, dice.choice((relisted, reattached))):
        found = order(found, dice)
    return list(found)


ORDERS: tuple[Order, ...] = (interleaved, stuttered, thinned, relisted, reattached, disturbed)
