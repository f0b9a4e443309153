"""Download a snapshot of a model of the Hugging Face Hub to a shared file system.

Environment: HF_MODEL_ID; HF_REVISION, a branch, tag or commit; HF_TENSORS, false to leave the weights out; HF_TOKEN and
HF_ENDPOINT, as for any client of the hub; SNAPSHOT_ROOT, below which the model becomes the directory HF_MODEL_ID;
SNAPSHOT_USER and SNAPSHOT_GROUP, who owns it; HUB_CLIENT, what pip installs when the image has no huggingface_hub.

The files arrive in a directory beside the model's, where those that are whole stay until the next run if this one is
ended. They take their place only when all of them are there and have the size that the hub names. The model's
.snapshot.json then records the commit and its files: what is recorded is not downloaded again.
"""

from __future__ import annotations

import errno
import grp
import importlib
import importlib.metadata
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

RECORD = ".snapshot.json"
# Weights in formats that nobody here reads, and all other weights.
NEVER = ("*.msgpack", "*.h5")
WEIGHTS = ("*.bin", "*.safetensors", "*.pth", "*.pt", "*.gguf", "*.onnx", "*.onnx_data")
WORKERS = 8
ATTEMPTS = 5
# Answers of the hub and errors of the file system that another attempt may change, and may not.
TEMPORARY = {408, 425, 429, 500, 502, 503, 504}
LASTING = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS}

Sizes = dict[str, "int | None"]


class SnapshotError(Exception):
    """What went wrong, in one line, and what to do."""


def say(text: str) -> None:
    print(text, flush=True)


def setting(name: str, default: str = "") -> str:
    """Return a variable of the environment; an empty one counts as not set."""
    return os.environ.get(name, "").strip() or default


def hub() -> Any:
    """Return the module huggingface_hub, which pip installs if the image has none, or one that is too old."""
    # One line for each file says more in a log than bars that move.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        version = importlib.metadata.version("huggingface_hub")
    except importlib.metadata.PackageNotFoundError:
        version = "0"
    # Before 0.23 a client puts links into a directory, not files.
    if [int(part) for part in re.findall(r"\d+", version)[:2]] < [0, 23]:
        wanted, place = setting("HUB_CLIENT"), "/tmp/huggingface_hub"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check"]
        if subprocess.run([*pip, "--target", place, wanted], check=False).returncode != 0:
            raise SnapshotError(
                f"pip cannot install {wanted}: take an image that has it, or name an index in PIP_INDEX_URL"
            )
        sys.path.insert(0, place)
    return importlib.import_module("huggingface_hub")


def number_of(name: str, find: Callable[[str], int], variable: str) -> int:
    """Return the number of a user or group, given by name or number; -1 for none given."""
    try:
        return int(name or -1)
    except ValueError:
        pass
    try:
        return find(name)
    except KeyError:
        raise SnapshotError(f"{variable} is {name!r}, which the image does not know: give the number") from None


def explain(error: BaseException, model: str, revision: str) -> tuple[str, bool]:
    """Return what an error means, in one line, and whether another attempt may help."""
    # A client that cannot ask for a file says that it is not there, and why as the cause.
    if error.__cause__ is not None and getattr(error, "response", None) is None:
        error = error.__cause__
    status = getattr(getattr(error, "response", None), "status_code", None)
    name = type(error).__name__
    given = setting("HF_TOKEN")
    if name == "GatedRepoError":
        who = "the account of the token" if given else "an account, and give its token in hf_token"
        return f"{model} is gated: accept its terms at the hub with {who}", False
    if name == "RevisionNotFoundError":
        return f"{model} has no revision {revision!r}: give a branch, a tag or a commit in revision", False
    if status == 401 or name == "RepositoryNotFoundError":
        token = "the hub does not take the token" if given else "the hub asks for a token: give one in hf_token"
        return f"{model}: there is no such model, or {token} (status {status})", False
    if status is not None:
        return f"{model}: the hub answers {status}", status in TEMPORARY
    if isinstance(error, OSError) and error.errno in LASTING:
        return f"{error.filename or model}: {error.strerror}", False
    if "too large to be downloaded" in str(error):
        return f"{model} has a file of more than 50 GB: set HF_HUB_DISABLE_XET to 0 in env", False
    return f"{model}: {name}: {' '.join(str(error).split())[:300]}", True


class Snapshot:
    """One model on its way to its directory."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.model = setting("HF_MODEL_ID")
        if not self.model:
            raise SnapshotError("HF_MODEL_ID is not set: name the model in env, as meta-llama/Llama-3.1-8B")
        self.revision = setting("HF_REVISION", "main")
        self.tensors = setting("HF_TENSORS", "true").lower() in ("true", "1")
        root = Path(setting("SNAPSHOT_ROOT"))
        self.target = root / self.model
        if not self.target.resolve().is_relative_to(root.resolve()):
            raise SnapshotError(f"HF_MODEL_ID is {self.model!r}, which is no name of a model")
        self.incoming = self.target.with_name(f".{self.target.name}.incoming")
        self.owner = (
            number_of(setting("SNAPSHOT_USER"), lambda name: pwd.getpwnam(name).pw_uid, "snapshot.user"),
            number_of(setting("SNAPSHOT_GROUP"), lambda name: grp.getgrnam(name).gr_gid, "snapshot.group"),
        )

    def run(self) -> None:
        """Bring what is missing and put it in its place."""
        token = setting("HF_TOKEN") or None
        info = self.client.HfApi(token=token).model_info(self.model, revision=self.revision, files_metadata=True)
        wanted: Sizes = {one.rfilename: one.size for one in info.siblings if self._is_wanted(one.rfilename)}
        if not wanted:
            raise SnapshotError(f"{self.model} has no file to download at {info.sha[:12]}")
        record = self._record()
        there = record["files"] if record["commit"] == info.sha else {}
        missing = {name: size for name, size in wanted.items() if name not in there or not self._is_whole(name, size)}
        if missing:
            say(f"{self.model}: {len(missing)} of {len(wanted)} files of commit {info.sha[:12]}")
            self._download(missing, info.sha, token)
            self._place(missing, {"commit": info.sha, "files": {**there, **wanted}}, record["files"])
        total = sum((self.target / name).stat().st_size for name in wanted) / 1e9
        say(f"{self.target}: complete at commit {info.sha[:12]}, {len(wanted)} files, {total:.3f} GB")

    def _is_wanted(self, name: str) -> bool:
        unwanted = NEVER if self.tensors else (*NEVER, *WEIGHTS)
        return not any(fnmatch(name, pattern) for pattern in unwanted)

    def _record(self) -> dict[str, Any]:
        try:
            return dict(json.loads((self.target / RECORD).read_text()))
        except (FileNotFoundError, ValueError):
            return {"commit": "", "files": {}}

    def _is_whole(self, name: str, size: int | None, directory: Path | None = None) -> bool:
        path = (directory or self.target) / name
        return path.is_file() and size in (None, path.stat().st_size)

    def _download(self, missing: Sizes, commit: str, token: str | None) -> None:
        """Download files to the directory of what arrives; those that are whole there stay."""
        self._make(self.incoming)
        # What a client that was ended leaves under names that nobody finds again.
        for left in (self.incoming / ".cache").rglob("*.????????.incomplete"):
            left.unlink(missing_ok=True)
        with ThreadPoolExecutor(WORKERS) as pool:
            running = {
                pool.submit(
                    self.client.hf_hub_download,
                    self.model,
                    name,
                    revision=commit,
                    local_dir=self.incoming,
                    token=token,
                ): name
                for name in missing
            }
            try:
                for done in as_completed(running):
                    done.result()
                    say(f"{running[done]}: {(self.incoming / running[done]).stat().st_size / 1e9:.3f} GB")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        short = [name for name, size in missing.items() if not self._is_whole(name, size, self.incoming)]
        for name in short:
            (self.incoming / name).unlink(missing_ok=True)
        if short:
            raise OSError(f"{len(short)} files do not have the size that the hub names: {', '.join(short[:3])}")

    def _place(self, missing: Sizes, record: dict[str, Any], before: Sizes) -> None:
        """Put what arrived in its place: the directory as a whole where there is none yet, else file by file."""
        shutil.rmtree(self.incoming / ".cache", ignore_errors=True)
        for name in {path.relative_to(self.incoming) for path in self.incoming.rglob("*") if path.is_file()}:
            # Of an earlier commit.
            if str(name) not in missing:
                (self.incoming / name).unlink()
        new = self.incoming / RECORD
        new.write_text(json.dumps(record, indent=1) + "\n")
        for path in self.incoming.rglob("*"):
            self._own(path)
        if not self.target.exists():
            self.incoming.rename(self.target)
            return
        (self.target / RECORD).unlink(missing_ok=True)
        for name in missing:
            self._make((self.target / name).parent)
            (self.incoming / name).replace(self.target / name)
        for name in before.keys() - record["files"].keys():
            (self.target / name).unlink(missing_ok=True)
        new.replace(self.target / RECORD)
        shutil.rmtree(self.incoming)

    def _make(self, directory: Path) -> None:
        """Make a directory and those above it; the new ones belong to the owner of the snapshot."""
        if not directory.is_dir():
            self._make(directory.parent)
            directory.mkdir(exist_ok=True)
            self._own(directory)

    def _own(self, path: Path) -> None:
        if self.owner != (-1, -1):
            os.chown(path, *self.owner)


def attempt(snapshot: Snapshot, number: int) -> bool:
    """Try once. Returns whether it succeeded; raises SnapshotError when there is no use in another attempt."""
    try:
        snapshot.run()
    except SnapshotError:
        raise
    except Exception as error:
        text, again = explain(error, snapshot.model, snapshot.revision)
        if not again or number == ATTEMPTS:
            raise SnapshotError(text) from error
        say(f"{text}; attempt {number} of {ATTEMPTS}, the next in {2**number} s")
        time.sleep(2**number)
        return False
    return True


def main() -> int:
    """Download the snapshot. Returns the exit status."""
    try:
        snapshot = Snapshot(hub())
        number = 1
        while not attempt(snapshot, number):
            number += 1
    except SnapshotError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
