"""AWS on a local port: moto, with answers of our own in front of it, for what it lacks and for what goes wrong.

An answer is what boto3 is to return, checked against the service's own model, or an error; a function makes either of
what was asked. It stands for one operation in all regions, or in one.
"""

from __future__ import annotations

import io
import json
import re
import threading
import typing as t
from collections.abc import Callable, Iterable
from urllib.parse import parse_qs

from botocore.validate import ParamValidator
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

Reply = dict[str, t.Any]


class AwsRefusalError(Exception):
    """An error as AWS names it."""

    def __init__(self, code: str, message: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.code, self.status = code, status

    def response(self, protocol: str) -> Response:
        """Return it as a protocol spells it. Source: Smithy, "AWS protocols"; EC2 API reference, "Error codes"."""
        if "json" in protocol:
            body = json.dumps({"__type": self.code, "message": str(self)})
            return Response(body, self.status, {"X-Amzn-Errortype": self.code})
        error = f"<Error><Code>{self.code}</Code><Message>{self}</Message></Error>"
        inside = {"ec2": f"<Response><Errors>{error}</Errors></Response>", "rest-xml": error}
        return Response(inside.get(protocol, f"<ErrorResponse>{error}</ErrorResponse>"), self.status)


Answer = Reply | AwsRefusalError | Callable[[Reply], Reply]
# Signature Version 4 says which service and region a request is for.
_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")
# What EC2 sells does not depend on what was done; moto takes most of a second of CPU to tell it.
_CONSTANT = {"DescribeInstanceTypes", "DescribeInstanceTypeOfferings"}
# Services whose models are called otherwise than what is signed.
_MODELS = {"servicequotas": "service-quotas", "elasticfilesystem": "efs"}


class _Silent(WSGIRequestHandler):
    def log(
        self,
        type: str,  # noqa: A002
        message: str,
        *args: t.Any,
    ) -> None:
        """Do not write a line a request."""


class AwsFront:
    """A server on a free port of this machine."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, ...], Answer] = {}
        self.asked: list[str] = []
        self._kept: dict[tuple[str, bytes], Response] = {}
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True, request_handler=_Silent)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, service: str, operation: str, answer: Answer, region: str = "") -> None:
        """Give an answer to all further requests of that operation."""
        key = (service, operation, region)
        self.answers[key] = answer

    def _serve(self, environ: dict[str, t.Any], start_response: t.Any) -> Iterable[bytes]:
        scope = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
        if scope:
            service = _MODELS.get(scope["service"], scope["service"])
            request = _read(environ)
            operation = _operation(service, request)
            self.asked.append(f"{scope['service']}:{operation}")
            for region in (scope["region"], ""):
                if (service, operation, region) in self.answers:
                    answer = self.answers[service, operation, region]
                    return _respond(service, operation, request, answer)(environ, start_response)
            if operation in _CONSTANT:
                return self._constant(request, scope["region"])(environ, start_response)
        return t.cast("Iterable[bytes]", self._moto(environ, start_response))

    def _constant(self, request: Request, region: str) -> Response:
        """Return what moto answered to the same request before."""
        key = (region, request.get_data())
        if key not in self._kept:
            self._kept[key] = Response.from_app(self._moto, request.environ)
            self._kept[key].freeze()
        return self._kept[key]


def _read(environ: dict[str, t.Any]) -> Request:
    """Return the request, and leave its body to be read again."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    request = Request(environ)
    request.get_data(cache=True)
    environ["wsgi.input"] = io.BytesIO(body)
    return request


def _operation(service: str, request: Request) -> str:
    """Return the operation a request is for; each protocol says it in its own way."""
    if target := request.headers.get("X-Amz-Target"):
        return target.rpartition(".")[2]
    if action := parse_qs(request.get_data().decode(errors="replace")).get("Action"):
        return action[0]
    model = get_service_model(service)
    for name in model.operation_names:
        http = model.operation_model(name).http
        path = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(http["requestUri"].partition("?")[0]))
        if http["method"] == request.method and re.fullmatch(f"{path}/?", request.path):
            return str(name)
    return ""


def _respond(service: str, operation: str, request: Request, answer: Answer) -> Response:
    model = get_service_model(service)
    operation_model, protocol = model.operation_model(operation), model.metadata["protocol"]
    try:
        result = answer(_asked(request)) if callable(answer) else answer
        if isinstance(result, AwsRefusalError):
            raise result
    except AwsRefusalError as error:
        return error.response(protocol)
    wrong = ParamValidator().validate(result, operation_model.output_shape)
    if wrong.has_errors():
        raise AssertionError(f"{service} {operation} cannot answer so: {wrong.generate_report()}")
    sent = get_serializer_class(service, protocol)(operation_model=operation_model).serialize(result)
    return Response(sent["body"], sent["status_code"], sent["headers"])


def _asked(request: Request) -> Reply:
    """Return the body of a JSON request; of others their query."""
    body = request.get_data()
    return json.loads(body) if body.startswith(b"{") else dict(request.args)
