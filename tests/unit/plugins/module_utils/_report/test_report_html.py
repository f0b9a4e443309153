from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ansible_collections.mlops.eks.plugins.module_utils._core.errors import MissingToolError
from ansible_collections.mlops.eks.plugins.module_utils._core.libraries import Library
from ansible_collections.mlops.eks.plugins.module_utils._core.step_record import SEVERITY
from ansible_collections.mlops.eks.plugins.module_utils._report import html
from ansible_collections.mlops.eks.plugins.module_utils._report.collect import collect
from ansible_collections.mlops.eks.plugins.module_utils._report.html import render
from ansible_collections.mlops.eks.plugins.module_utils._report.style import STYLE

Put = Callable[..., Path]

GOOD, FAILED, UNFINISHED = (
    "20261121T091502-digits-3f9a",
    "20261121T101530-bert-mrpc-7c21",
    "20261121T113000-digits-b0b0",
)

VOID = {"meta", "link", "br", "hr", "img", "input"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&amp;{{ 7*7 }}{% raw %}"


class Page(HTMLParser):
    """Holds that tags nest and close, and gathers what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _value in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def values(self, attribute: str) -> list[str]:
        return [value for _tag, attributes in self.tags if (value := attributes.get(attribute)) is not None]

    def words(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))


def page_of(directory: Path) -> Page:
    return Page(render(collect(directory).run))


@pytest.mark.parametrize("run_id", [GOOD, FAILED, UNFINISHED])
def test_the_page_is_well_formed_and_stands_alone(runs: Path, run_id: str) -> None:
    text = render(collect(runs / run_id).run)
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert not re.search(r"(?:https?:)?//[a-z0-9]", re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL), re.IGNORECASE)
    assert "@import" not in text
    assert not {"img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _attributes in page.tags}
    assert page.values("src") == []
    assert [one for one in re.findall(r"url\(([^)]*)\)", text) if not one.startswith("#")] == []


@pytest.mark.parametrize("run_id", [GOOD, FAILED, UNFINISHED])
def test_every_link_leads_somewhere(runs: Path, run_id: str) -> None:
    page = page_of(runs / run_id)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    (runs / run_id / "run.json").touch()
    for link in page.values("href"):
        if link.startswith("#"):
            assert link[1:] in ids
        elif not link.startswith("data:"):
            assert (runs / run_id / link).exists(), link


def test_a_good_run_shows_its_steps_phases_resources_pods_and_files(runs: Path) -> None:
    page = page_of(runs / GOOD)
    words = page.words()
    for expected in (
        "All 5 steps ended well; serve stays installed and ready.",
        "MPIJob/digits-train",
        "training/mpijob-distributed 1.0.0",
        "2e986d55cddc",
        "queued 0.42 s",
        "running 18.9 s",
        "26.6 core-seconds",
        "not what it used",
        "digits-train-worker-1",
        "launcher: terminated, Completed, exit 0, 0 restarts, log 24 lines",
        "final test accuracy 0.9722",
        "logs/digits-train-worker-0.worker.log",
    ):
        assert expected in re.sub(r" (?=[,:.])", "", words), expected
    assert not any("problem" in (value or "") for value in page.values("class"))
    labels = page.values("aria-label")
    assert "train: queued 0.42\u00a0s, pulling 2.4\u00a0s, running 18.9\u00a0s, finishing 0.93\u00a0s" in labels
    logs = [attributes for tag, attributes in page.tags if tag == "details" and attributes.get("class") == "tail"]
    assert len(logs) == 5
    assert all("open" not in attributes for attributes in logs)


def test_the_failure_comes_first_with_cause_remedy_and_log(runs: Path) -> None:
    words = page_of(runs / FAILED).words()
    order = [
        "train failed on eu-west-1",
        "OOMKilled",
        "was killed by the kernel",
        "What to do: Raise resources.limits.memory",
        "whole log",
        "MemoryError: cannot allocate 1.21 GiB",
        "waiting to be scheduled",
    ]
    places = [words.index(text) for text in order]
    assert places == sorted(places)
    assert "exit 137 (SIGKILL)" in words
    assert "\x1b" not in words
    assert "30/230" in words
    assert "27/230" not in words


def test_a_skipped_step_names_the_earlier_run(runs: Path) -> None:
    (runs / GOOD / "report.html").touch()
    page = page_of(runs / FAILED)
    assert f"identical step succeeded at 20 Nov 2026, 16:02:11 UTC in run {GOOD}" in page.words()
    assert f"../{GOOD}/report.html" in page.values("href")


def test_an_unfinished_run_says_what_to_do(runs: Path) -> None:
    words = page_of(runs / UNFINISHED).words()
    assert "train is unfinished on local" in words
    assert "Run the same command again; it re-attaches" in words
    assert "The step left no step.json" in words
    assert "3 of 5 steps of release digits" in words


def test_hostile_text_stays_text(put: Put) -> None:
    record = {
        **dict.fromkeys(("step", "cluster", "namespace", "release", "pipeline", "chart", "chart_version"), HOSTILE),
        **dict.fromkeys(("identity", "controller", "skipped_because"), HOSTILE),
        "outcome": "failed",
        "recipes": [HOSTILE],
        "warnings": [HOSTILE],
        "log_tail": [HOSTILE],
        "started": "2026-11-21T09:00:00Z",
        "workload": {"kind": HOSTILE, "name": HOSTILE},
        "cause": {
            **dict.fromkeys(("reason", "object", "container", "message", "remedy"), HOSTILE),
            "log_tail": [HOSTILE],
        },
        "phases": [{"name": HOSTILE, "started": "2026-11-21T09:00:00Z"}],
        "resources": {HOSTILE: {"requested": 1, "seconds": 1}},
        "pods": [
            {
                **dict.fromkeys(("name", "role", "node", "phase"), HOSTILE),
                "requests": {HOSTILE: 1},
                "containers": [dict.fromkeys(("name", "image", "state", "reason", "log"), HOSTILE)],
            }
        ],
    }
    runs = put(record)
    (runs / "r" / "local" / "01-train" / "a\"'><script>&#.yaml").touch()
    page = page_of(runs / "r")
    tags = [tag for tag, _attributes in page.tags]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not any(name.startswith("on") for _tag, attributes in page.tags for name in attributes)
    assert page.words().count("alert(1)") > 20
    assert "{{ 7*7 }}" in page.words()


def test_odd_file_names_are_linked_byte_by_byte(put: Put) -> None:
    runs = put({"outcome": "succeeded"}, cluster="a b?#é%")
    (runs / "r" / "a b?#é%" / "01-train" / "caf\udce9.log").touch()
    links = page_of(runs / "r").values("href")
    assert "a%20b%3F%23%C3%A9%25/01-train/caf%E9.log" in links


def test_an_empty_run_is_a_page_too(tmp_path: Path) -> None:
    assert "No step was recorded yet." in page_of(tmp_path).words()


def test_the_same_run_gives_the_same_bytes(runs: Path) -> None:
    assert render(collect(runs / FAILED).run) == render(collect(runs / FAILED).run)


def test_the_policy_lets_nothing_in_but_our_script(runs: Path) -> None:
    policies = [value for value in page_of(runs / GOOD).values("content") if "default-src" in value]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-")


def test_without_jinja_the_message_says_what_to_install(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = collect(runs / GOOD).run
    html._template.cache_clear()
    monkeypatch.setattr(html, "jinja2", Library("jinja2"))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingToolError, match=r"library jinja2 is not installed for .*pip install 'jinja2'"):
        render(run)


def _luminance(colour: str) -> float:
    full = colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
    parts = [int(full[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_from_their_ground(scheme: int) -> None:
    colours = dict(re.findall(r"--([a-z_]+): (#[0-9a-f]{3,6});", STYLE.split("@media")[scheme]))
    text = ("ink", "soft", "link", *SEVERITY)
    for ground in ("paper", "card", "code"):
        assert {name: ratio for name in text if (ratio := _contrast(colours[name], colours[ground])) < 4.5} == {}
    for name in ("queued", "pulling", "active", "finishing"):
        assert _contrast(colours[name], colours["card"]) >= 3, name
