"""Parts that the fakes of AWS services share: request, answer, error, and generated identifiers."""

from __future__ import annotations

import json
import time
import typing as t
import uuid
from dataclasses import dataclass

Document = dict[str, t.Any]
ACCOUNT = "123456789012"


@dataclass(frozen=True)
class Request:
    """A request of an AWS SDK, as a handler sees it."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: t.Mapping[str, str]
    body: Document
    region: str


class ServiceError(Exception):
    """An error with the code of AWS."""

    def __init__(self, code: str, message: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status

    def document(self) -> Document:
        """Return the body, for JSON 1.1 and REST JSON alike."""
        return {"__type": self.code, "code": self.code, "message": str(self)}


def not_found(what: str) -> ServiceError:
    """The error of REST services about a missing object."""
    return ServiceError("ResourceNotFoundException", f"{what} not found", status=404)


def in_use(what: str) -> ServiceError:
    """The error of REST services about an object that exists already or is in use."""
    return ServiceError("ResourceInUseException", what, status=409)


def unique(prefix: str, length: int = 17) -> str:
    """Return an identifier in AWS's form: `fs-0123456789abcdef0`."""
    return f"{prefix}-{uuid.uuid4().hex[:length]}"


def now() -> float:
    """Return the time in the form of JSON protocols: seconds since 1970."""
    return round(time.time(), 3)


def encode(document: Document) -> bytes:
    """Return the body of an answer."""
    return json.dumps(document).encode()
