from __future__ import annotations

import json
import os
import threading
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import EksError
from ansible_collections.mlops.eks.plugins.module_utils._report import write
from ansible_collections.mlops.eks.plugins.module_utils._report.write import report

Put = Callable[..., Path]

GOOD, FAILED = "20261121T091502-digits-3f9a", "20261121T101530-bert-mrpc-7c21"


def quiet(_line: str) -> None:
    """Say nothing."""


def stamps(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in directory.iterdir() if path.is_file()}


def test_check_mode_predicts_and_the_second_run_is_quiet(runs: Path) -> None:
    said: list[str] = []
    predicted = report(runs, GOOD, check=True, diff=True, say=said.append)
    assert stamps(runs / GOOD) == {}
    first = report(runs, GOOD, check=False, diff=True, say=said.append)
    assert predicted == first
    assert first["changed"] is True
    written = stamps(runs / GOOD)
    assert set(written) == {"run.json", "report.html"}
    said.clear()
    second = report(runs, GOOD, check=False, diff=True, say=said.append)
    assert (second["changed"], second["diff"], said) == (False, [], [])
    assert stamps(runs / GOOD)["report.html"] == written["report.html"]


def test_the_result_names_the_files_and_the_outcome(runs: Path) -> None:
    said: list[str] = []
    result = report(runs, FAILED, check=False, diff=False, say=said.append)
    assert result == {
        "changed": True,
        "run_id": FAILED,
        "outcome": "failed",
        "record": str(runs / FAILED / "run.json"),
        "report": str(runs / FAILED / "report.html"),
    }
    assert said == [f"report | {FAILED} | failed | {runs / FAILED / 'report.html'}"]
    assert json.loads((runs / FAILED / "run.json").read_text())["outcome"] == "failed"


def test_the_diff_shows_what_became_of_the_record(put: Put) -> None:
    runs = put({"outcome": "running", "step": "train"})
    report(runs, "r", check=False, diff=False, say=quiet)
    put({"outcome": "succeeded", "step": "train"})
    result = report(runs, "r", check=True, diff=True, say=quiet)
    record, page = result["diff"]
    assert '"outcome": "running"' in record["before"]
    assert '"outcome": "succeeded"' in record["after"]
    assert page["before"] != page["after"]
    assert page["after_header"] == str(runs / "r" / "report.html")


def test_a_report_is_as_private_as_the_most_private_step(put: Put) -> None:
    runs = put({"outcome": "succeeded", "step": "data"})
    private = put({"outcome": "succeeded", "step": "train"}, step="02-train") / "r/local/02-train/step.json"
    report(runs, "r", check=False, diff=False, say=quiet)
    files = [runs / "r" / name for name in ("run.json", "report.html")]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o644, 0o644]
    private.chmod(0o600)
    # Nothing else has changed.
    assert report(runs, "r", check=False, diff=False, say=quiet)["changed"] is False
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    private.write_text(json.dumps({"outcome": "failed", "step": "train"}), encoding="utf-8")
    shown = report(runs, "r", check=False, diff=True, say=quiet)["diff"]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    assert "outcome" not in json.dumps(shown)
    assert "sha256" in shown[0]["after"]


def test_a_changed_or_deleted_file_is_written_again(runs: Path) -> None:
    report(runs, GOOD, check=False, diff=False, say=quiet)
    (runs / GOOD / "run.json").unlink()
    (runs / GOOD / "report.html").write_bytes(b"\xff torn")
    again = report(runs, GOOD, check=False, diff=True, say=quiet)
    assert [Path(change["after_header"]).name for change in again["diff"]] == ["run.json", "report.html"]
    assert report(runs, GOOD, check=False, diff=False, say=quiet)["changed"] is False


def test_a_failed_write_leaves_the_old_page_and_nothing_beside_it(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = put({"outcome": "running"})
    report(runs, "r", check=False, diff=False, say=quiet)
    before = {name: (runs / "r" / name).read_bytes() for name in ("run.json", "report.html")}
    put({"outcome": "succeeded"})

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(EksError) as caught:
        report(runs, "r", check=False, diff=False, say=quiet)
    assert "run.json: no space left on device" in str(caught.value)
    assert {path.name: path.read_bytes() for path in (runs / "r").iterdir() if path.is_file()} == before


def test_writers_at_the_same_time_end_with_the_records_of_all(put: Put) -> None:
    clusters = [f"cluster-{number}" for number in range(8)]
    runs = put(None, cluster=clusters[0])
    start = threading.Barrier(len(clusters))
    torn: list[str] = []

    def host(cluster: str) -> None:
        start.wait()
        put({"outcome": "succeeded", "cluster": cluster}, cluster=cluster)
        report(runs, "r", check=False, diff=False, say=quiet)
        text = (runs / "r" / "report.html").read_text()
        torn.extend([] if text.endswith("</html>\n") else [cluster])

    threads = [threading.Thread(target=host, args=(cluster,)) for cluster in clusters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torn == []
    document = json.loads((runs / "r" / "run.json").read_text())
    assert [(cluster["name"], cluster["outcome"]) for cluster in document["clusters"]] == [
        (cluster, "succeeded") for cluster in clusters
    ]
    assert stamps(runs / "r").keys() == {"run.json", "report.html"}


def test_who_waited_while_another_read_everything_does_not_read_it_again(
    put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = put({"outcome": "succeeded", "step": "train"})
    reads: list[Path] = []
    asked = threading.Barrier(8, timeout=60)
    run_directory, collect = write.run_directory, write.collect

    def ask(*where: t.Any) -> Path:
        asked.wait()
        return run_directory(*where)

    def read(directory: Path) -> t.Any:
        reads.append(directory)
        return collect(directory)

    monkeypatch.setattr(write, "run_directory", ask)
    monkeypatch.setattr(write, "collect", read)
    outcomes: list[str] = []

    def tell() -> None:
        outcomes.append(report(runs, "r", check=False, diff=False, say=quiet)["outcome"])

    threads = [threading.Thread(target=tell) for _ in range(asked.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == ["succeeded"] * asked.parties
    assert len(reads) == 1


def test_a_record_of_the_future_is_not_trusted(runs: Path) -> None:
    report(runs, GOOD, check=False, diff=False, say=quiet)
    record = runs / GOOD / "run.json"
    record.write_text('{"outcome": "wrong"}')
    os.utime(record, (4e9, 4e9))
    assert report(runs, GOOD, check=False, diff=False, say=quiet)["outcome"] == "succeeded"


def test_where_directories_cannot_be_locked_the_report_is_written_all_the_same(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_handle: int, _operation: int) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(write.fcntl, "flock", refuse)
    assert report(runs, GOOD, check=False, diff=False, say=quiet)["changed"] is True
