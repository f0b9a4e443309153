"""The generated scripts, run for real by bash in a home directory of their own."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from chart_cases import MINIMAL, WORK, Render, having, scripts
from chart_script import make, recipe_file

JOB, SERVER = "data-prep/data-process", "serving/generic-server"
every_script = pytest.mark.parametrize("chart", having("script", "work"))

NASTY = [
    "cat >here <<'END'\nit's \"quoted\" at 100 %s %% {{ .Values.x }} {{- end }} $HOME `date` \\n \\\\"
    " trailing:   \n\ttab\n  # -- x\nEND",
    "cat >expanded <<EOF\n$WORD: \\$5 é ü 日本 \U0001f680 \u00a0|\nEOF\n",
    "printf '%s\\n' \"a b\"  'c\"d' >words   ",
    "---",
]


def done_lines(render: Render, chart: str) -> list[str]:
    """What the script of a chart prints when the command succeeded: servers and MPI ranks nothing."""
    return re.findall(r'echo "(\w+ script done)"', scripts(render(chart, MINIMAL[chart]))[recipe_file(render, chart)])


@every_script
def test_everything_runs_in_order(chart: str, render: Render, tmp_path: Path) -> None:
    values = {
        "inline_script": ["echo inline"],
        "pre_script": ["if true", "then", "echo pre", "fi"],
        WORK[chart]: {"command": ["WORD=x", "echo"], "args": ["command", 7, 0.5, True, "'a  b'", "2>&1 | tee log"]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS"],
    }
    done = make(render, tmp_path, chart, values).run()
    said = done.stdout.splitlines()
    assert said == ["inline", "pre", "command 7 0.5 true a  b", *done_lines(render, chart), "post", "always 0"]
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "home" / "log").read_text() == "command 7 0.5 true a  b\n"


@every_script
def test_a_program_that_fails_in_front_of_tee_fails_the_step(chart: str, render: Render, tmp_path: Path) -> None:
    values = {
        WORK[chart]: {"command": ["bash"], "args": ["-c 'echo trained; exit 7'", "2>&1 | tee log"]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS", "exit 0"],
    }
    done = make(render, tmp_path, chart, values).run()
    assert done.returncode == 7
    assert done.stdout.splitlines() == ["trained", "always 7"]
    assert "failed with exit status 7: bash -c 'echo trained; exit 7' 2>&1 | tee log" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "lines", [["false"], ["echo $(false)x", "y=$(exit 1)"], ["cd /nowhere"], ["f() { false; }", "f"]]
)
def test_a_line_that_fails_ends_the_script(lines: list[str], render: Render, tmp_path: Path) -> None:
    values = {"pre_script": lines, "process": {"command": ["echo"], "args": ["not reached"]}}
    done = make(render, tmp_path, JOB, values).run()
    assert done.returncode == 1
    assert "not reached" not in done.stdout
    assert "failed with exit status 1" in done.stderr


# Shell options, and whether a line that fails ends the script under them.
SHELLS = [("-Eeo pipefail", True), ("-eu", True), ("-o errexit", True), (None, False), ("-o pipefail", False)]


@every_script
@pytest.mark.parametrize(("options", "ends"), SHELLS)
def test_shell_options_say_what_a_failed_line_does(
    chart: str, options: str | None, ends: bool, render: Render, tmp_path: Path
) -> None:
    """It ends the script, or is passed over as by the reference's plain shell. `done` is printed only after success."""

    def run(name: str, pre: str, program: str) -> tuple[list[str], int]:
        values = {
            "shell_options": options,
            "pre_script": [pre, "echo pre"],
            WORK[chart]: {"command": [program]},
            "always_script": ["echo always $EXIT_STATUS"],
        }
        (tmp_path / name).mkdir()
        done = make(render, tmp_path / name, chart, values).run()
        # Also a failed line that is passed over is reported, once.
        assert done.stderr.count("failed with exit status") == (name != "well"), done.stderr
        return done.stdout.splitlines(), done.returncode

    well = (["pre", *done_lines(render, chart), "always 0"], 0)
    assert run("well", "true", "true") == well
    assert run("line", "false", "true") == ((["always 1"], 1) if ends else well)
    assert run("command", "true", "bash -c 'exit 4'") == (["pre", "always 4"], 4)


def test_a_pipe_fails_with_any_part_of_it_only_when_asked(render: Render, tmp_path: Path) -> None:
    for options, status in (("-Eeo pipefail", 3), ("-e", 0), (None, 0)):
        directory = tmp_path / str(options)
        directory.mkdir()
        program = {"command": ["bash -c 'exit 3'", "| cat"]}
        done = make(render, directory, JOB, {"shell_options": options, "process": program}).run()
        assert done.returncode == status, options


def test_a_plain_script_ends_with_the_status_of_its_last_line(render: Render, tmp_path: Path) -> None:
    values = {"shell_options": None, "process": {"command": ["false"]}, "post_script": ["echo post", "cd /nowhere"]}
    done = make(render, tmp_path, JOB, values).run()
    assert (done.stdout, done.returncode) == ("post\n", 1)


def test_what_may_fail_does_not_end_the_script(render: Render, tmp_path: Path) -> None:
    lines = [
        "false || true",
        "if [ -z $UNSET ]; then echo unset is empty; fi",
        "[ -d /nowhere ] && echo never",
        "rm -f nothing*",
    ]
    done = make(render, tmp_path, JOB, {"pre_script": lines}).run()
    assert (done.returncode, done.stdout) == (0, "unset is empty\nProcessing script done\n")


def test_always_script_cannot_change_the_outcome(render: Render, tmp_path: Path) -> None:
    values = {"always_script": ["false", "echo still here", "exit 9"], "process": {"command": ["exit"], "args": [3]}}
    done = make(render, tmp_path, JOB, values).run()
    assert (done.returncode, done.stdout) == (3, "still here\n")


def test_nothing_but_scripts_is_fine(render: Render, tmp_path: Path) -> None:
    values = {"process": {"command": []}, "pre_script": ["echo all the work"]}
    done = make(render, tmp_path, JOB, values).run()
    assert (done.returncode, done.stdout) == (0, "all the work\n")


@every_script
def test_text_arrives_as_it_was_written(chart: str, render: Render) -> None:
    values = {"inline_script": NASTY[:2], "pre_script": [*NASTY[2:3], ": \u2028 \x07 \r", *[f": '{NASTY[3]}'"]]}
    text = scripts(render(chart, MINIMAL[chart], values))[recipe_file(render, chart)]
    for item in [*values["inline_script"], *values["pre_script"]]:
        assert item.removesuffix("\n") + "\n" in text


@every_script
def test_here_documents_write_what_they_say(chart: str, render: Render, tmp_path: Path) -> None:
    values = {"inline_script": NASTY[:2], "pre_script": NASTY[2:3]}
    made = make(render, tmp_path, chart, values)
    assert made.run(WORD="word").returncode == 0
    assert (made.home / "here").read_text() == NASTY[0].split("\n", 1)[1].removesuffix("END")
    assert (made.home / "expanded").read_text() == "word: $5 é ü 日本 \U0001f680 \u00a0|\n"
    assert (made.home / "words").read_text() == 'a b\nc"d\n'


def test_sigterm_ends_the_script_after_its_program_and_runs_always_script(render: Render, tmp_path: Path) -> None:
    """What the kubelet and the preStop hook do: both the program and the script get the signal."""
    trainer = "bash -c 'trap \"echo saved; exit 0\" TERM; touch started; while :; do sleep 0.05; done'"
    values = {
        "process": {"command": [trainer]},
        "post_script": ["echo post"],
        "always_script": ["echo always $EXIT_STATUS"],
    }
    script = make(render, tmp_path, JOB, values)
    running = script.start()
    deadline = time.monotonic() + 120
    while not (script.home / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGTERM)
    said, _ = running.communicate(timeout=120)
    assert said == "saved\nalways 143\n"
    assert running.returncode == 143


def test_a_server_that_dies_ends_the_container(render: Render, tmp_path: Path) -> None:
    values = {"server": {"command": ["bash -c 'exit 4'"], "keep_alive": True}}
    assert make(render, tmp_path, SERVER, values).run().returncode == 4


def test_a_server_in_the_background_is_kept_only_when_asked(render: Render, tmp_path: Path) -> None:
    text = scripts(render(SERVER, MINIMAL[SERVER], {"server": {"keep_alive": True}}))["launcher.sh"]
    assert "sleep infinity &\nwait\n" in text
    assert "sleep infinity" not in scripts(render(SERVER, MINIMAL[SERVER]))["launcher.sh"]
