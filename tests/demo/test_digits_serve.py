# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Steps `serve` and `call`: answers, refusals, and a client that proves the service."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from digits import call, checkpoint, dataset, serve, train
from digits.errors import DigitsError
from digits.serve import RequestError, Server
from digits.world import Alone
from digits_programs import PROGRAMS
from test_digits_train import SETTINGS

IMAGE = [0] * 64


@pytest.fixture
def checkpoints(data: Path, tmp_path: Path) -> Path:
    """Return the checkpoints of a well trained model."""
    directory = tmp_path / "checkpoints"
    digits = dataset.load(data, "train")
    train.train(digits=digits, settings=SETTINGS, epochs=40, checkpoints=directory, world=Alone())
    return directory


@pytest.fixture
def server(checkpoints: Path) -> Iterator[Server]:
    """Return a running server on a free port."""
    with Server(("127.0.0.1", 0), checkpoint.require(checkpoints)) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def request(server: Server, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def post(server: Server, document: object) -> tuple[int, Any]:
    return request(server, "POST", "/predict", json.dumps(document).encode())


def test_healthz(server: Server) -> None:
    assert request(server, "GET", "/healthz") == (200, {"status": "ok", "epoch": 40})


def test_one_image(server: Server, data: Path) -> None:
    test = dataset.load(data, "test")
    status, answer = post(server, {"pixels": test.images[0].tolist()})
    assert status == 200
    assert answer["digit"] == int(test.labels[0])
    assert 0.5 < answer["probability"] <= 1


def test_many_images_in_order(server: Server, data: Path) -> None:
    test = dataset.load(data, "test")
    status, answer = post(server, {"instances": test.images.tolist()})
    assert status == 200
    hits = [found["digit"] == int(label) for found, label in zip(answer["predictions"], test.labels, strict=True)]
    assert sum(hits) >= 38


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is not JSON"),
        (b"\xff\xfe\x00", "the body is not JSON"),
        (b"[]", 'either "pixels" or "instances"'),
        (b"{}", 'either "pixels" or "instances"'),
        (json.dumps({"pixels": IMAGE, "instances": [IMAGE]}).encode(), 'either "pixels" or "instances"'),
        (b'{"pixels": 3}', "pixels must be a list of 64 numbers; found int"),
        (json.dumps({"pixels": IMAGE[:63]}).encode(), "pixels must be a list of 64 numbers; found 63 of them"),
        (json.dumps({"pixels": [*IMAGE[:63], "1"]}).encode(), r"pixels\[63\] must be a number from 0 to 16; found '1'"),
        (json.dumps({"pixels": [True, *IMAGE[:63]]}).encode(), r"pixels\[0\] must be a number .*; found True"),
        (json.dumps({"pixels": [17, *IMAGE[:63]]}).encode(), r"pixels\[0\] must be a number .*; found 17"),
        (json.dumps({"pixels": [float("nan"), *IMAGE[:63]]}).encode(), r"pixels\[0\] must be a number .*; found nan"),
        (b'{"instances": []}', "list of 1 to 4096 images"),
        (json.dumps({"instances": [IMAGE, [1]]}).encode(), r"instances\[1\] must be a list of 64 numbers"),
        (b'{"pixels": ' + b"[" * 100_000, "the body is not JSON"),
    ],
)
def test_bad_bodies_say_what_is_wrong(body: bytes, message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        serve.parse(body)
    assert refused.value.status == 400


def test_bad_body_over_http_is_400(server: Server) -> None:
    status, answer = post(server, {"pixels": [1]})
    assert (status, answer) == (400, {"error": "pixels must be a list of 64 numbers; found 1 of them"})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("POST", "/healthz", 404), ("GET", "/predict", 404), ("PUT", "/predict", 501)],
)
def test_wrong_paths_and_methods(server: Server, method: str, path: str, status: int) -> None:
    found, answer = request(server, method, path)
    assert found == status
    assert answer["error"]


@pytest.mark.parametrize(
    ("header", "status"), [("", 411), ("Content-Length: many", 411), ("Content-Length: 99999999", 413)]
)
def test_bodies_without_a_sensible_length(server: Server, header: str, status: int) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        connection.sendall(
            f"POST /predict HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".replace("\r\n\r\n\r\n", "\r\n\r\n").encode()
        )
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.status == status


def test_sigterm_ends_the_program(checkpoints: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROGRAMS)}
    command = [sys.executable, "-m", "digits.serve", "--checkpoints", str(checkpoints), "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("serving epoch 40")
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60)[0] == "stopped\n"
    assert process.returncode == 0


def test_a_taken_port_is_one_line(server: Server, checkpoints: Path) -> None:
    with pytest.raises(DigitsError, match="Cannot listen on port"):
        serve.main(["--checkpoints", str(checkpoints), "--port", str(server.server_port)])


def test_call_proves_the_service(server: Server, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call.main(["--url", f"http://127.0.0.1:{server.server_port}", "--data", str(data)])
    output = capsys.readouterr().out
    assert "answered 40 images" in output
    assert "truth  0" in output
    assert "answer 0" in output


def test_call_fails_below_the_minimum(server: Server, data: Path) -> None:
    url = f"http://127.0.0.1:{server.server_port}"
    with pytest.raises(DigitsError, match=r"accuracy \S+ is below the required 1\.01"):
        call.main(["--url", url, "--data", str(data), "--min-accuracy", "1.01"])


def test_call_names_a_service_that_is_not_there(data: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(DigitsError, match=rf"Cannot reach {url}: .*serve step's release"):
            call.main(["--url", url, "--data", str(data), "--timeout", "0.3"])


def test_call_shows_the_service_s_refusal(server: Server) -> None:
    with pytest.raises(DigitsError, match=r"answered 400: .*must be a list of 64 numbers"):
        call.ask(f"http://127.0.0.1:{server.server_port}", [[1]], timeout=5)


def test_call_refuses_an_answer_without_predictions(server: Server) -> None:
    url = f"http://127.0.0.1:{server.server_port}"
    with pytest.raises(DigitsError, match="answered 404"):
        call.ask(f"{url}/elsewhere", [IMAGE], timeout=5)
