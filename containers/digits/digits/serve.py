# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `serve`: answer `POST /predict` and `GET /healthz` with the newest checkpoint.

`{"pixels": [64 numbers from 0 to 16]}` is answered by `{"digit": 3, "probability": 0.998}`, and
`{"instances": [[64 numbers], ...]}` by `{"predictions": [{"digit": ..., "probability": ...}, ...]}`.
Everything the client got wrong is answered by status 4xx and `{"error": "one sentence"}`.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from digits import checkpoint, model
from digits.checkpoint import Checkpoint
from digits.dataset import BRIGHTEST, PIXELS
from digits.errors import DigitsError, run
from digits.model import Floats

MAX_BODY_BYTES = 4 << 20
MAX_INSTANCES = 4096


class RequestError(Exception):
    """The client's mistake, with the status to answer."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def parse(body: bytes) -> tuple[Floats, bool]:
    """Return the pixels of a request, shape (n, 64), and whether it was a single image.

    Raises:
        RequestError: status 400 and what is wrong with the body.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from error
    if not isinstance(document, dict) or len(document.keys() & {"pixels", "instances"}) != 1:
        raise RequestError(HTTPStatus.BAD_REQUEST, 'the body must be an object with either "pixels" or "instances"')
    if "pixels" in document:
        return np.array([_image("pixels", document["pixels"])]), True
    instances = document["instances"]
    if not isinstance(instances, list) or not 0 < len(instances) <= MAX_INSTANCES:
        raise RequestError(HTTPStatus.BAD_REQUEST, f'"instances" must be a list of 1 to {MAX_INSTANCES} images')
    return np.array([_image(f"instances[{place}]", image) for place, image in enumerate(instances)]), False


def predict(state: Checkpoint, pixels: Floats) -> list[dict[str, Any]]:
    """Return the most probable digit of each image and its probability."""
    answers = model.probabilities(state.settings.layers, state.parameters, pixels / BRIGHTEST)
    return [{"digit": int(row.argmax()), "probability": round(float(row.max()), 6)} for row in answers]


class Handler(BaseHTTPRequestHandler):
    """One request; the server object holds the model."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 60
    error_content_type = "application/json"
    error_message_format = '{"error": "%(message)s"}'

    def do_GET(self) -> None:
        """Answer the health check."""
        if self.path != "/healthz":
            self._answer(HTTPStatus.NOT_FOUND, {"error": f"no such path: {self.path}; there are /healthz and /predict"})
            return
        self._answer(HTTPStatus.OK, {"status": "ok", "epoch": self.server.state.epoch})

    def do_POST(self) -> None:
        """Answer a prediction."""
        try:
            pixels, single = parse(self._body())
        except RequestError as error:
            self._answer(error.status, {"error": str(error)})
            return
        predictions = predict(self.server.state, pixels)
        self._answer(HTTPStatus.OK, predictions[0] if single else {"predictions": predictions})

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log requests, but not the probes that come every few seconds."""
        if self.path != "/healthz":
            super().log_request(code, size)

    def _body(self) -> bytes:
        """Read the request's body."""
        if self.path != "/predict":
            self.close_connection = True
            raise RequestError(HTTPStatus.NOT_FOUND, f"no such path: {self.path}; POST to /predict")
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            self.close_connection = True
            raise RequestError(HTTPStatus.LENGTH_REQUIRED, "the request needs a Content-Length")
        if int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            raise RequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has {length} bytes; {MAX_BODY_BYTES} are allowed"
            )
        return self.rfile.read(int(length))

    def _answer(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """A thread per connection over one read-only model."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], state: Checkpoint) -> None:
        self.state = state
        super().__init__(address, Handler)


def main(argv: list[str] | None = None) -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="digits.serve", description="Serve the newest checkpoint over HTTP.")
    parser.add_argument("--checkpoints", type=Path, required=True, help="directory of the checkpoints")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args(argv)

    state = checkpoint.require(options.checkpoints)
    try:
        server = Server(("", options.port), state)
    except OSError as error:
        raise DigitsError(f"Cannot listen on port {options.port}: {error.strerror}. Choose another --port.") from error
    # shutdown() waits for serve_forever() to return, so it must not run on the thread that serves.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"serving epoch {state.epoch} of {options.checkpoints} on port {server.server_port}", flush=True)
    with server:
        server.serve_forever(poll_interval=0.1)
    print("stopped", flush=True)


def _image(name: str, pixels: object) -> list[float]:
    """Return `pixels` as numbers, or say what is wrong with them."""
    if not isinstance(pixels, list) or len(pixels) != PIXELS:
        found = f"{len(pixels)} of them" if isinstance(pixels, list) else type(pixels).__name__
        raise RequestError(HTTPStatus.BAD_REQUEST, f"{name} must be a list of {PIXELS} numbers; found {found}")
    for place, pixel in enumerate(pixels):
        if isinstance(pixel, bool) or not isinstance(pixel, (int, float)) or not 0 <= pixel <= BRIGHTEST:
            raise RequestError(
                HTTPStatus.BAD_REQUEST, f"{name}[{place}] must be a number from 0 to {BRIGHTEST}; found {pixel!r}"
            )
    return [float(pixel) for pixel in pixels]


if __name__ == "__main__":
    run(main)
