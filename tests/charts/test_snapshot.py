"""files/snapshot.py of model-prep/hf-snapshot, with the real client of the hub, against a server on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chart_cases import CHARTS, Render
from chart_script import make
from fakes.hub import SAMPLE, Hub, Model

PROGRAM = CHARTS / "model-prep/hf-snapshot/files/snapshot.py"
MODEL, TOKEN = "example/sample", "a token"
WEIGHTS = "model.safetensors"
SIZES = {name: len(content) for name, content in SAMPLE.commits[0].items()}
KEPT = {"config.json", "tokenizer/vocab.txt", WEIGHTS}


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub({MODEL: SAMPLE}, TOKEN) as running:
        running.store = f"http://localhost:{running.server_port}"
        yield running


def start(hub: Hub, root: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    standard = {
        "PATH": os.environ["PATH"],
        "HOME": str(root.parent),
        "HF_ENDPOINT": hub.url,
        "HF_MODEL_ID": MODEL,
        "HF_TOKEN": TOKEN,
        "SNAPSHOT_ROOT": str(root),
    }
    return subprocess.Popen(
        [sys.executable, *options, str(PROGRAM)],
        env=standard | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(hub: Hub, root: Path, *options: str, rc: int = 0, **environment: str) -> str:
    """Run the program to its end and return its standard output, or, where it fails, its one line of standard error."""
    running = start(hub, root, *options, **environment)
    stdout, stderr = running.communicate(timeout=300)
    assert running.returncode == rc, stdout + stderr
    if rc:
        assert len(stderr.splitlines()) == 1, stderr
    return stderr if rc else stdout


def files(root: Path) -> dict[str, bytes]:
    """Return what is below the directory of the models, without records."""
    paths = [path for path in root.rglob("*") if path.is_file() and path.name != ".snapshot.json"]
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def expected(commit: dict[str, bytes], *names: str) -> dict[str, bytes]:
    return {f"{MODEL}/{name}": commit[name] for name in names}


def test_a_model_is_complete_with_its_directories_and_not_downloaded_twice(hub: Hub, tmp_path: Path) -> None:
    shown = run(hub, tmp_path / "models")
    assert files(tmp_path / "models") == expected(SAMPLE.commits[0], *KEPT)
    assert f"complete at commit {SAMPLE.commit()[:12]}, 3 files" in shown
    record = json.loads((tmp_path / "models" / MODEL / ".snapshot.json").read_text())
    assert record == {"commit": SAMPLE.commit(), "files": {name: SIZES[name] for name in KEPT}}
    assert {name: len(times) for name, times in hub.sent.items()} == dict.fromkeys(KEPT, 1)

    hub.sent.clear()
    assert "complete at commit" in run(hub, tmp_path / "models")
    assert hub.sent == {}


def test_a_truncated_file_is_downloaded_again(hub: Hub, tmp_path: Path) -> None:
    root = tmp_path / "models"
    run(hub, root)
    hub.sent.clear()
    (root / MODEL / WEIGHTS).write_bytes(b"short")
    run(hub, root)
    assert list(hub.sent) == [WEIGHTS]
    assert files(root) == expected(SAMPLE.commits[0], *KEPT)


def test_a_download_that_was_killed_goes_on(hub: Hub, tmp_path: Path) -> None:
    """Whole files stay, nothing has its name before everything is there, and what was half is not left."""
    root = tmp_path / "models"
    hub.holds = {WEIGHTS}
    running = start(hub, root)
    assert hub.held.wait(120)
    assert running.stdout
    arrived = {running.stdout.readline().split(":")[0] for _ in range(3)}
    assert arrived == {MODEL, "config.json", "tokenizer/vocab.txt"}
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    assert not (root / MODEL).exists()
    hub.go.set()
    run(hub, root)
    assert files(root) == expected(SAMPLE.commits[0], *KEPT)
    assert [len(hub.sent[name]) for name in sorted(KEPT)] == [1, 2, 1]


def test_a_broken_connection_goes_on_within_the_file(hub: Hub, tmp_path: Path) -> None:
    """The client keeps whole pieces of ten megabytes."""
    large = {WEIGHTS: bytes(range(256)) * 4096 * 24}
    hub.models[MODEL] = Model([large])
    hub.breaks[WEIGHTS] = 1
    run(hub, tmp_path / "models")
    (first, second) = hub.sent[WEIGHTS]
    assert first[0] == 0
    assert 0 < second[0] <= first[1]
    assert sum(second) == len(large[WEIGHTS])
    assert files(tmp_path / "models") == expected(large, WEIGHTS)


def test_a_hub_that_is_busy_is_asked_again(hub: Hub, tmp_path: Path) -> None:
    hub.busy = 1
    assert "the hub answers 503; attempt 1 of 5" in run(hub, tmp_path / "models")
    assert files(tmp_path / "models") == expected(SAMPLE.commits[0], *KEPT)


REFUSED = [
    pytest.param({"HF_TOKEN": "wrong"}, "the hub does not take the token (status 401)", id="wrong-token"),
    pytest.param({"HF_TOKEN": ""}, "the hub asks for a token: give one in hf_token (status 401)", id="no-token"),
    pytest.param({"HF_MODEL_ID": "example/no"}, "example/no: there is no such model", id="no-model"),
    pytest.param({"HF_MODEL_ID": "example/gated"}, "example/gated is gated: accept its terms", id="gated"),
    pytest.param({"HF_MODEL_ID": ""}, "HF_MODEL_ID is not set: name the model in env", id="no-name"),
    pytest.param({"HF_MODEL_ID": "../etc"}, "HF_MODEL_ID is '../etc', which is no name of a model", id="path"),
    pytest.param({"HF_REVISION": "v9"}, "example/sample has no revision 'v9'", id="no-revision"),
    pytest.param({"SNAPSHOT_USER": "nobody-here"}, "snapshot.user is 'nobody-here', which the image", id="no-user"),
    pytest.param({"SNAPSHOT_GROUP": "none-here"}, "snapshot.group is 'none-here', which the image", id="no-group"),
]


@pytest.mark.parametrize(("environment", "message"), REFUSED)
def test_refused_at_once_in_one_line(hub: Hub, tmp_path: Path, environment: dict[str, str], message: str) -> None:
    hub.models["example/gated"] = Model(SAMPLE.commits, gated=True)
    assert message in run(hub, tmp_path / "models", rc=1, **environment)
    assert not (tmp_path / "models").exists()


def test_a_full_or_closed_directory_is_named(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    message = run(hub, tmp_path / "models", rc=1)
    assert str(tmp_path / "models") in message
    assert "Not a directory" in message


def test_an_image_without_the_client_and_without_pip(hub: Hub, tmp_path: Path) -> None:
    running = start(hub, tmp_path / "models", "-S", HUB_CLIENT="huggingface_hub==2.4.0")
    stderr = running.communicate(timeout=60)[1]
    assert running.returncode == 1
    assert "pip cannot install huggingface_hub==2.4.0: take an image that has it" in stderr


@pytest.mark.parametrize(
    ("value", "tensors"),
    [("", True), ("true", True), ("True", True), ("1", True), ("false", False), ("0", False), ("no", False)],
)
def test_tensors(hub: Hub, tmp_path: Path, value: str, tensors: bool) -> None:
    run(hub, tmp_path / "models", HF_TENSORS=value)
    assert files(tmp_path / "models") == expected(SAMPLE.commits[0], *(KEPT if tensors else KEPT - {WEIGHTS}))


def test_the_weights_can_follow_later(hub: Hub, tmp_path: Path) -> None:
    run(hub, tmp_path / "models", HF_TENSORS="false")
    hub.sent.clear()
    run(hub, tmp_path / "models")
    assert list(hub.sent) == [WEIGHTS]
    hub.sent.clear()
    run(hub, tmp_path / "models", HF_TENSORS="false")
    assert hub.sent == {}
    assert files(tmp_path / "models") == expected(SAMPLE.commits[0], *KEPT)


def test_a_revision_is_fixed_and_a_newer_one_takes_its_place(hub: Hub, tmp_path: Path) -> None:
    old = SAMPLE.commits[0]
    new = {
        **{name: old[name] for name in ("config.json", WEIGHTS)},
        "config.json": b"{}",
        "more/words.txt": b"w" * 2000,
    }
    model = hub.models[MODEL] = Model([old, new], tags={"v1": 0})
    root = tmp_path / "models"
    for revision in ("v1", model.commit("v1")):
        run(hub, root, HF_REVISION=revision)
        assert files(root) == expected(old, *KEPT)
    (root / MODEL / "notes.txt").write_text("mine")
    run(hub, root)
    assert files(root) == {**expected(new, *new), f"{MODEL}/notes.txt": b"mine"}
    assert json.loads((root / MODEL / ".snapshot.json").read_text())["commit"] == model.commit()


def test_what_is_downloaded_belongs_to_its_owner_and_nothing_else_does(hub: Hub, tmp_path: Path) -> None:
    root = tmp_path / "models"
    (root / "other").mkdir(parents=True)
    (root / "other" / "model").write_text("x")
    user, group = (12345, 23456) if os.getuid() == 0 else (os.getuid(), os.getgid())
    run(hub, root, SNAPSHOT_USER=str(user), SNAPSHOT_GROUP=str(group))
    new = [root / "example", root / MODEL, *(root / MODEL).rglob("*")]
    assert len(new) == 7
    assert {(path.stat().st_uid, path.stat().st_gid) for path in new} == {(user, group)}
    kept = [root, root / "other", root / "other" / "model"]
    assert {(path.stat().st_uid, path.stat().st_gid) for path in kept} == {(os.getuid(), os.getgid())}


def test_the_job_fails_with_its_download_and_keeps_a_log(hub: Hub, render: Render, tmp_path: Path) -> None:
    script = make(render, tmp_path, "model-prep/hf-snapshot", {"post_script": ["echo not reached"]})
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HF_ENDPOINT": hub.url,
        "HF_MODEL_ID": MODEL,
        "SNAPSHOT_ROOT": str(tmp_path / "models"),
        "LOG_ROOT": str(tmp_path / "logs"),
    }
    done = script.run(**environment, HF_TOKEN="wrong")
    assert done.returncode == 1
    assert "the hub does not take the token" in done.stdout
    assert "not reached" not in done.stdout
    assert (tmp_path / "logs" / "hfsnapshot.log").read_text() in done.stdout
    assert script.run(**environment, HF_TOKEN=TOKEN).returncode == 0
    assert files(tmp_path / "models") == expected(SAMPLE.commits[0], *KEPT)
