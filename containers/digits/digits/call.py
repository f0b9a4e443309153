# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""Step `call`: send the test images to the service and compare its answers with the truth."""

from __future__ import annotations

import argparse
import http.client
import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from digits import dataset
from digits.dataset import SIDE, Bytes, Digits
from digits.errors import DigitsError, run

SHADES = " .:-=+*#%@"


def ask(url: str, instances: list[list[int]], *, timeout: float) -> list[dict[str, Any]]:
    """Return the service's predictions; keep trying to connect for `timeout` seconds.

    Raises:
        DigitsError: no connection in time, a refusal, or an answer that is not one prediction per image.
    """
    body = json.dumps({"instances": instances}).encode()
    request = urllib.request.Request(f"{url}/predict", data=body, headers={"Content-Type": "application/json"})
    deadline = time.monotonic() + timeout
    while True:
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                predictions = json.load(response)["predictions"]
        except urllib.error.HTTPError as error:
            raise DigitsError(f"{url} answered {error.code}: {error.read().decode(errors='replace')}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise DigitsError(f"{url} gave an answer without predictions. Is it the digits service?") from error
        except (OSError, http.client.HTTPException) as error:
            if time.monotonic() > deadline:
                raise DigitsError(f"Cannot reach {url}: {error}. Is the serve step's release installed?") from error
            time.sleep(0.25)
            continue
        if len(predictions) != len(instances):
            raise DigitsError(f"{url} gave {len(predictions)} predictions for {len(instances)} images.")
        return list(predictions)


def picture(image: Bytes) -> list[str]:
    """Draw an image with two characters per pixel, one string per row."""
    rows = image.reshape(SIDE, SIDE).astype(int) * (len(SHADES) - 1) // dataset.BRIGHTEST
    return ["".join(SHADES[shade] * 2 for shade in row) for row in rows]


def show(test: Digits, predictions: list[dict[str, Any]], places: list[int]) -> None:
    """Print the images at `places` side by side, truth and answer below each."""
    for row in zip(*(picture(test.images[place]) for place in places), strict=True):
        print("   ".join(row))
    truths = [f"truth  {test.labels[place]}" for place in places]
    answers = [f"answer {predictions[place]['digit']} ({predictions[place]['probability']:.3f})" for place in places]
    for line in (truths, answers):
        print("   ".join(text.ljust(2 * SIDE) for text in line))


def main(argv: list[str] | None = None) -> None:
    """Send the whole test part, print a few answers, fail below the minimum accuracy."""
    parser = argparse.ArgumentParser(prog="digits.call", description=__doc__)
    parser.add_argument("--url", required=True, help="the service, without /predict")
    parser.add_argument("--data", type=Path, required=True, help="file that digits.data wrote")
    parser.add_argument("--min-accuracy", type=float, default=0.95)
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds to wait for the service")
    options = parser.parse_args(argv)

    test = dataset.load(options.data, "test")
    begun = time.monotonic()
    predictions = ask(options.url, test.images.tolist(), timeout=options.timeout)
    milliseconds = 1000 * (time.monotonic() - begun)
    hits = [prediction["digit"] == int(label) for prediction, label in zip(predictions, test.labels, strict=True)]
    right = [place for place, hit in enumerate(hits) if hit]
    wrong = [place for place, hit in enumerate(hits) if not hit]
    show(test, predictions, right[:2] + wrong[:2])
    accuracy = len(right) / len(test)
    print(f"{options.url} answered {len(test)} images in {milliseconds:.0f} ms; accuracy {accuracy:.4f}", flush=True)
    if accuracy < options.min_accuracy:
        raise DigitsError(f"The service's accuracy {accuracy:.4f} is below the required {options.min_accuracy}.")


if __name__ == "__main__":
    run(main)
