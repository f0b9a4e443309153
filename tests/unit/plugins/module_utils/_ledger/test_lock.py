"""One controller per release: the Lease against a stateful API and a clock that the test moves."""

from __future__ import annotations

import os
import subprocess
import threading
import typing as t
from collections.abc import Iterator

import pytest
from fakes.clock import FakeClock
from fakes.kube import FakeKube

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import micro
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import (
    AbsentError,
    ConflictError,
    ForbiddenError,
    UnreachableError,
)
from ansible_collections.mlops.eks.plugins.module_utils._ledger import lock as module
from ansible_collections.mlops.eks.plugins.module_utils._ledger.lock import (
    DURATION,
    Lock,
    display_name,
    is_dead,
    this_controller,
)

LEASES = "/apis/coordination.k8s.io/v1/namespaces/team/leases"
PATH = f"{LEASES}/mlops-eks-digits"
OTHER = "tower/aaaa1111/4711/99"
MakeLock = t.Callable[[], Lock]


@pytest.fixture
def kube() -> FakeKube:
    return FakeKube()


@pytest.fixture
def lost() -> list[str]:
    return []


@pytest.fixture
def make(kube: FakeKube, clock: FakeClock, lost: list[str]) -> Iterator[MakeLock]:
    made: list[Lock] = []

    def begin() -> Lock:
        made.append(Lock(kube, "digits", clock=clock, on_loss=lost.append))
        return made[-1]

    yield begin
    for one in made:
        one.release()


def lease(clock: FakeClock, holder: str = OTHER, *, age: float = 0.0) -> dict[str, t.Any]:
    return {
        "metadata": {"name": "mlops-eks-digits"},
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": int(DURATION),
            "acquireTime": micro(clock.now() - 3600),
            "renewTime": micro(clock.now() - age),
        },
    }


def holder(kube: FakeKube) -> str:
    return str(kube.objects[PATH]["spec"]["holderIdentity"])


def test_acquire_and_release(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    said: list[str] = []
    lock = make()
    lock.acquire(timeout=0, say=said.append)
    assert holder(kube) == this_controller()
    assert kube.objects[PATH]["spec"]["renewTime"] == kube.objects[PATH]["spec"]["acquireTime"] == micro(clock.now())
    assert (said, clock.slept) == ([], [])
    lock.release()
    assert PATH not in kube.objects
    lock.release()


def test_the_refusal_names_a_living_holder_and_since_when(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    kube.put(PATH, lease(clock))
    begun, said = clock.now(), []

    def renew() -> None:
        if clock.now() - begun > 10:
            kube.objects[PATH]["spec"]["renewTime"] = micro(clock.now())

    clock.meanwhile = renew
    with pytest.raises(ConflictError) as caught:
        make().acquire(timeout=0, say=said.append)
    message = str(caught.value)
    assert "tower (process 4711) is following it for 1 h" in message
    assert "2027-01-15T07:00:00.000Z" in message
    assert "stop.yml -e release=digits" in message
    assert clock.now() - begun < DURATION
    assert said == ["release digits is locked by tower (process 4711); waiting to see whether it is alive"]
    assert holder(kube) == OTHER


def test_a_living_holder_is_waited_for_as_long_as_asked(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    kube.put(PATH, lease(clock))
    begun = clock.now()

    def live_for_two_minutes() -> None:
        if clock.now() - begun >= 120:
            kube.objects.pop(PATH, None)
        else:
            kube.objects[PATH]["spec"]["renewTime"] = micro(clock.now())

    clock.meanwhile = live_for_two_minutes
    make().acquire(timeout=600, say=lambda _: None)
    assert holder(kube) == this_controller()
    assert 119 <= clock.now() - begun <= 125


def test_a_lease_released_between_two_requests_is_no_conflict(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    kube.put(PATH, lease(clock))
    looks = 0
    original = kube._get

    def vanish(path: str, *more: t.Any) -> dict[str, t.Any]:
        nonlocal looks
        looks += 1
        # Present for the first look around, gone for the one that follows a refused creation.
        if looks == 4:
            kube.objects.pop(PATH, None)
        return original(path, *more)

    kube._get = vanish  # type: ignore[method-assign]
    make().acquire(timeout=0, say=lambda _: None)
    assert holder(kube) == this_controller()


def test_an_expired_holder_is_replaced_whatever_its_own_clock_said(
    kube: FakeKube, make: MakeLock, clock: FakeClock
) -> None:
    # Its renewTime lies in the future: only what we see ourselves counts.
    kube.put(PATH, lease(clock, age=-7200))
    begun = clock.now()
    make().acquire(timeout=0, say=lambda _: None)
    assert holder(kube) == this_controller()
    assert DURATION <= clock.now() - begun <= DURATION + 3
    assert kube.objects[PATH]["spec"]["acquireTime"] == micro(clock.now())


def test_a_dead_process_of_this_machine_is_replaced_at_once(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    mine = this_controller().split("/")
    kube.put(PATH, lease(clock, "/".join([mine[0], mine[1], str(child.pid), "1"])))
    make().acquire(timeout=0, say=lambda _: None)
    assert clock.slept == []
    assert holder(kube) == this_controller()


def test_a_zombie_process_is_dead() -> None:
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    mine = this_controller().split("/")
    name = "/".join([mine[0], mine[1], str(child.pid), module._started(child.pid)])
    assert not is_dead(name)
    t.cast(t.IO[bytes], child.stdin).close()
    wait_for(lambda: is_dead(name))
    assert child.returncode is None
    child.wait()


def test_a_lease_without_holder_is_free(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    kube.put(PATH, lease(clock, ""))
    make().acquire(timeout=0, say=lambda _: None)
    assert clock.slept == []


def test_our_own_creation_whose_answer_was_lost_is_ours(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    # The client repeats the request, which then conflicts with what it created itself.
    kube.fail[f"POST {LEASES}"] = [(ConflictError("already exists"), True)]
    make().acquire(timeout=0, say=lambda _: None)
    assert clock.slept == []
    assert holder(kube) == this_controller()


def test_two_takers_at_once_cannot_both_win(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    kube.put(PATH, lease(clock))
    original = kube._put

    def beaten(path: str, *more: t.Any) -> dict[str, t.Any]:
        kube._put = original  # type: ignore[method-assign]
        kube.put(PATH, lease(clock, "faster/bbbb2222/1/1"))
        return original(path, *more)

    kube._put = beaten  # type: ignore[method-assign]
    clock.meanwhile = lambda: None
    with pytest.raises(ConflictError, match="faster"):
        make().acquire(timeout=0, say=lambda _: None)
    assert holder(kube) == "faster/bbbb2222/1/1"


def test_a_missing_namespace_or_permission_is_an_error(kube: FakeKube, make: MakeLock) -> None:
    kube.fail[f"POST {LEASES}"] = [(ForbiddenError("leases is forbidden"), False)]
    with pytest.raises(ForbiddenError):
        make().acquire(timeout=0, say=lambda _: None)
    kube.namespaces.clear()
    with pytest.raises(AbsentError):
        make().acquire(timeout=0, say=lambda _: None)


def test_a_stop_takes_the_lease_from_a_living_holder(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    kube.put(PATH, lease(clock))
    assert make().seize() == "tower (process 4711)"
    assert clock.slept == []
    assert holder(kube) == this_controller()
    assert kube.objects[PATH]["spec"]["acquireTime"] == micro(clock.now())


def test_a_lease_that_is_renewed_at_the_same_time_is_seized(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    kube.put(PATH, lease(clock))
    original = kube._put

    def renewed(path: str, *more: t.Any) -> dict[str, t.Any]:
        kube._put = original  # type: ignore[method-assign]
        kube.put(PATH, lease(clock))
        return original(path, *more)

    kube._put = renewed  # type: ignore[method-assign]
    assert make().seize() == "tower (process 4711)"
    assert holder(kube) == this_controller()


def test_a_lease_that_is_free_is_seized_from_nobody(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    assert make().seize() == ""
    assert holder(kube) == this_controller()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RENEWAL", 0.001)


def wait_for(condition: t.Callable[[], bool]) -> None:
    ready = threading.Event()
    for _ in range(5000):
        if condition():
            return
        ready.wait(0.001)
    raise AssertionError("it did not happen")


@pytest.mark.usefixtures("quick")
def test_it_is_renewed_while_held(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    since = kube.objects[PATH]["spec"]["acquireTime"]
    clock.at += 30
    wait_for(lambda: kube.objects[PATH]["spec"]["renewTime"] == micro(clock.now()))
    assert kube.objects[PATH]["spec"]["acquireTime"] == since


@pytest.mark.usefixtures("quick")
def test_the_loss_is_noticed_and_the_winner_left_alone(
    kube: FakeKube, make: MakeLock, clock: FakeClock, lost: list[str]
) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    kube.put(PATH, lease(clock))
    wait_for(lambda: bool(lost))
    assert lost == ["tower (process 4711)"]
    lock.release()
    assert holder(kube) == OTHER


@pytest.mark.usefixtures("quick")
def test_a_deleted_lease_is_a_loss(kube: FakeKube, make: MakeLock, lost: list[str]) -> None:
    make().acquire(timeout=0, say=lambda _: None)
    with kube.one_by_one:
        kube.objects.pop(PATH)
    wait_for(lambda: bool(lost))
    assert lost == ["somebody who deleted the lease"]


@pytest.mark.usefixtures("quick")
def test_a_cluster_that_does_not_answer_is_no_loss(
    kube: FakeKube, make: MakeLock, clock: FakeClock, lost: list[str]
) -> None:
    make().acquire(timeout=0, say=lambda _: None)
    away = [(UnreachableError("away"), False)]
    kube.fail = {f"PUT {PATH}": away * 5, f"GET {PATH}": away * 3}
    wait_for(lambda: not kube.fail[f"PUT {PATH}"])
    clock.at += 30
    wait_for(lambda: kube.objects[PATH]["spec"]["renewTime"] == micro(clock.now()))
    assert lost == []


def test_a_lease_that_was_seized_is_noticed_however_young_its_renewal_is(
    kube: FakeKube, make: MakeLock, clock: FakeClock
) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    lock.ensure_held()
    assert not lock.lost
    kube.put(PATH, lease(clock))
    with pytest.raises(ConflictError, match=r"tower \(process 4711\) took over\. 'status.yml' shows"):
        lock.ensure_held()
    assert lock.lost


def test_a_holder_that_slept_renews_before_it_goes_on(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    clock.at += 3600
    lock.ensure_held()
    assert kube.objects[PATH]["spec"]["renewTime"] == micro(clock.now())


def test_a_holder_that_slept_finds_that_it_was_replaced(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    clock.at += 3600
    kube.put(PATH, lease(clock))
    for _ in range(2):
        with pytest.raises(ConflictError, match=r"tower \(process 4711\) took over\."):
            lock.ensure_held()
    lock.release()
    assert holder(kube) == OTHER


def test_ensure_held_fails_when_the_cluster_does_not_answer(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    clock.at += 3600
    kube.fail[f"PUT {PATH}"] = [(UnreachableError("away"), False)]
    with pytest.raises(UnreachableError):
        lock.ensure_held()
    kube.fail[f"PUT {PATH}"] = [(ForbiddenError("leases is forbidden"), False)]
    with pytest.raises(ForbiddenError):
        lock.ensure_held()


def test_a_renewal_whose_answer_was_lost_is_no_loss(kube: FakeKube, make: MakeLock, clock: FakeClock) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    clock.at += 3600
    kube.fail[f"PUT {PATH}"] = [(ConflictError("modified"), True)]
    lock.ensure_held()
    assert kube.objects[PATH]["spec"]["renewTime"] == micro(clock.now())


def test_release_survives_a_renewal_at_the_same_moment(kube: FakeKube, make: MakeLock) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    kube.put(PATH, kube.objects[PATH])
    lock.release()
    assert PATH not in kube.objects


def test_release_does_not_fail_when_the_cluster_is_away(kube: FakeKube, make: MakeLock) -> None:
    lock = make()
    lock.acquire(timeout=0, say=lambda _: None)
    kube.fail[f"DELETE {PATH}"] = [(UnreachableError("away"), False)]
    lock.release()
    assert PATH in kube.objects


def test_controllers_have_distinct_identities() -> None:
    me = this_controller()
    assert not is_dead(me)
    host, boot, pid, start = me.split("/")
    assert int(pid) == os.getpid()
    assert is_dead(f"{host}/{boot}/{pid}/{int(start) + 1}"), "the same pid, started later, is another process"
    assert not is_dead(f"{host}/otherboot/{pid}/{start}")
    assert not is_dead(f"elsewhere/{boot}/{pid}/1")
    assert not is_dead("kubectl")
    assert not is_dead(f"{host}/{boot}/x/1")
    assert display_name("tower/a/7/9") == "tower (process 7)"
    assert display_name("somebody") == "somebody"
