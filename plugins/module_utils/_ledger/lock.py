# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""One controller per release: a Lease, renewed while held, taken over when its holder is gone or its run is stopped."""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from ansible_collections.mlops.eks.plugins.module_utils._core.clock import Clock, from_iso, human, iso, micro
from ansible_collections.mlops.eks.plugins.module_utils._core.errors import AbsentError, ClusterError, ConflictError
from ansible_collections.mlops.eks.plugins.module_utils._kube.client import Document, Kube
from ansible_collections.mlops.eks.plugins.module_utils._kube.paths import collection, item
from ansible_collections.mlops.eks.plugins.module_utils._plan.task import stop_command

_API = "coordination.k8s.io/v1"
DURATION = 45.0
# Four renewals a minute; two may fail before the lease is in danger.
RENEWAL = 15.0


class Lock:
    """The Lease `mlops-eks-<release>`; `on_loss(holder)` is called when another controller took it over."""

    def __init__(
        self, kube: Kube, release: str, *, clock: Clock, on_loss: Callable[[str], None] = lambda _: None
    ) -> None:
        self._kube, self._release, self._clock, self._on_loss = kube, release, clock, on_loss
        self._me = this_controller()
        self._collection = collection(_API, "leases", kube.namespace)
        self._path = item(_API, "leases", kube.namespace, f"mlops-eks-{release}")
        self._lease: Document | None = None
        # Who took it over, as people read it.
        self._taker = ""
        # When the holder before us, if it died, last showed that it was alive; in seconds since the epoch.
        self.former = 0.0
        # The thread that renews and the one that works may both write.
        self._writing = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def acquire(self, *, patience: float, say: Callable[[str], None]) -> None:
        """Take the lease. A holder that renews it within its duration is alive and refused against after `patience` s.

        Raises:
            ConflictError: who holds it, where and since when.
        """
        begun, told, last, changed = self._clock.now(), False, "", self._clock.now()
        while not self._try():
            lease = self._kube.get(self._path)
            if lease is None:
                # Given back in this moment.
                continue
            spec = lease.get("spec") or {}
            holder, renewed, now = str(spec.get("holderIdentity") or ""), str(spec.get("renewTime")), self._clock.now()
            alive = last not in ("", renewed)
            if renewed != last:
                last, changed = renewed, now
            duration = float(spec.get("leaseDurationSeconds") or DURATION)
            if alive and now - begun >= patience:
                raise ConflictError(self._refusal(holder, str(spec.get("acquireTime"))), holder=shown(holder))
            if now - changed > duration and self._write(lease):
                break
            if not told:
                say(f"release {self._release} is locked by {shown(holder)}; waiting to see whether it is alive")
                told = True
            self._clock.sleep(1.0)
        self._hold()

    def seize(self) -> str:
        """Take the lease from whoever has it, who learns of it by `secure`; return who, or nothing if it was free."""
        while not self._try():
            lease = self._kube.get(self._path)
            if lease is not None and self._write(lease):
                self._hold()
                return shown(str(lease["spec"].get("holderIdentity")))
        self._hold()
        return ""

    def _hold(self) -> None:
        self._thread = threading.Thread(target=self._renew, daemon=True, name=f"lease {self._release}")
        self._thread.start()

    @property
    def lost(self) -> bool:
        """Whether somebody else is known to have it."""
        return bool(self._taker)

    def look(self) -> None:
        """See at once whether somebody took it, as a run that only waits should; `lost` tells."""
        # The cluster may be away: the next look, or the next renewal, will tell.
        with contextlib.suppress(ClusterError):
            # Read from the API server's cache, which costs next to nothing; the renewal makes sure.
            if _holder(self._kube.get(self._path, {"resourceVersion": "0"})) != self._me:
                self._renew_once()

    def secure(self) -> None:
        """Make sure that the lease is still ours; to be called before anything is changed under its protection.

        A controller that slept for longer than the lease's duration may have been replaced in the meantime, and one
        whose run is stopped loses it at once. Nothing that is remembered tells that, so the cluster is asked.

        Raises:
            ConflictError: somebody took it over. ClusterError: the cluster does not say.
        """
        while not self._renew_once():
            pass
        if self._taker:
            raise ConflictError(
                f"release {self._release}: {self._taker} took over. 'status.yml' shows whether the run goes on there "
                "or was stopped.",
                holder=self._taker,
            )

    def release(self) -> None:
        """Give the lease back, if it is still ours."""
        self._stopped.set()
        # The cluster may be away: then it expires by itself.
        with self._writing, contextlib.suppress(ClusterError):
            lease, self._lease = self._lease, None
            if lease is None or self._delete(lease):
                return
            # Written since: by a renewal whose answer was lost, or by somebody who took it.
            current = self._kube.get(self._path)
            if current and current["spec"].get("holderIdentity") == self._me:
                self._delete(current)

    def _delete(self, lease: Document) -> bool:
        version = lease["metadata"]["resourceVersion"]
        try:
            self._kube.request("DELETE", self._path, body={"preconditions": {"resourceVersion": version}})
        except ConflictError:
            return False
        return True

    def _refusal(self, holder: str, since: str) -> str:
        age = ""
        if since:
            age = f" for {human(max(0.0, self._clock.now() - from_iso(since)))} (since {iso(from_iso(since))})"
        return (
            f"release {self._release}: {shown(holder)} is following it{age}. Wait for it, or stop the run there or "
            f"with '{stop_command(self._release, self._kube.namespace)}'."
        )

    def _try(self) -> bool:
        """Create the lease, or take it from a holder known to be dead."""
        now = micro(self._clock.now())
        body: Document = {
            "apiVersion": _API,
            "kind": "Lease",
            "metadata": {"name": f"mlops-eks-{self._release}", "labels": {"app.kubernetes.io/managed-by": "mlops.eks"}},
            "spec": {**self._spec(now), "acquireTime": now},
        }
        try:
            self._lease = self._kube.request("POST", self._collection, body=body)
        except ConflictError:
            lease = self._kube.get(self._path)
            holder = _holder(lease)
            # Our own name stands there when the answer to the creation was lost on its way.
            free = holder in ("", self._me) or is_dead(holder)
            return lease is not None and free and self._write(lease)
        return True

    def _spec(self, now: str) -> Document:
        return {"holderIdentity": self._me, "leaseDurationSeconds": int(DURATION), "renewTime": now}

    def _write(self, lease: Document) -> bool:
        """Put ourselves into `lease`; the resourceVersion makes two takers at once impossible."""
        now = micro(self._clock.now())
        acquired = {} if lease["spec"].get("holderIdentity") == self._me else {"acquireTime": now}
        try:
            self._lease = self._kube.request(
                "PUT", self._path, body={**lease, "spec": {**lease["spec"], **self._spec(now), **acquired}}
            )
        except (ConflictError, AbsentError):
            return False
        if acquired and lease["spec"].get("renewTime"):
            self.former = from_iso(lease["spec"]["renewTime"])
        return True

    def _renew(self) -> None:
        while not self._stopped.wait(RENEWAL):
            try:
                self._renew_once()
            except ClusterError:
                # A hiccup of the cluster: the next renewal will tell.
                continue
            if self._taker:
                self._on_loss(self._taker)
                return

    def _renew_once(self) -> bool:
        """Renew the lease, or learn who took it; return whether either was done.

        Raises:
            ClusterError: the cluster does not say.
        """
        with self._writing:
            lease = self._lease
            if lease is None or self._stopped.is_set() or self._write(lease):
                return True
            current = self._kube.get(self._path)
            holder = _holder(current)
            if current is not None and holder == self._me:
                # The answer to an earlier renewal was lost on its way.
                return self._write(current)
            self._lease = None
            self._taker = shown(holder) if holder else "somebody who deleted the lease"
            return True


def _holder(lease: Document | None) -> str:
    return str(((lease or {}).get("spec") or {}).get("holderIdentity") or "")


# Who a controller is, and whether it still runs: a process that no later one can be taken for.
# States of a process in /proc that has ended and waits for its parent to notice.
_ENDED = ("Z", "X")


def this_controller() -> str:
    """Return who we are: `host/boot/pid/start`, which no later process can repeat."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{_boot()}/{pid}/{_started(pid)}"


def this_user() -> str:
    """Return who runs this process: the user who became another by sudo, else the process's own."""
    try:
        own = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # Containers of OpenShift have users without a name.
        own = str(os.getuid())
    return os.environ.get("SUDO_USER") or own


def shown(holder: str) -> str:
    """Return a holder as people read it."""
    host, _, rest = holder.partition("/")
    parts = rest.split("/")
    return f"{host} (process {parts[1]})" if len(parts) == 3 else holder


def _boot() -> str:
    """Return what makes process numbers comparable: the boot, and the process namespace of a container."""
    path, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    if not path.exists() or not namespace.is_symlink():
        return "0"
    return f"{path.read_text(encoding='ascii').strip()[:8]}-{namespace.readlink().name.strip('pid:[]')}"


def _started(pid: int) -> str:
    """Return when process `pid` started, in the kernel's ticks, or `0` when it does not run."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return "0" if state in _ENDED else fields[18]
    except (OSError, IndexError, ValueError):
        return "0"


def is_dead(holder: str) -> bool:
    """Return whether the holder was a process of this very machine that no longer runs."""
    parts = holder.split("/")
    if len(parts) != 4 or parts[:2] != [socket.gethostname(), _boot()] or not parts[2].isdigit():
        return False
    return Path("/proc").is_dir() and _started(int(parts[2])) != parts[3]
