"""Requests and answers in AWS's protocols, by botocore's models of the services."""

from __future__ import annotations

import io
import json
import re
import typing as t
from urllib.parse import parse_qs

from botocore.exceptions import UnknownServiceError
from botocore.validate import ParamValidator
from fakes.aws.documents import Document, ServiceError
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.wrappers import Request, Response

# Services whose models are called otherwise than what is signed.
_MODELS = {"elasticfilesystem": "efs", "servicequotas": "service-quotas"}


def model_of(signed: str) -> str:
    """Return the name of a service's model, by the name in request signatures."""
    return _MODELS.get(signed, signed)


def read(environ: dict[str, t.Any]) -> Request:
    """Return the request, and keep its body readable."""
    request = Request(environ)
    environ["wsgi.input"] = io.BytesIO(request.get_data(cache=True))
    return request


def asked(request: Request) -> Document:
    """Return the body of a JSON request; of others their query."""
    body = request.get_data()
    return json.loads(body) if body.startswith(b"{") else dict(request.args)


def operation(service: str, request: Request) -> str:
    """Return the operation of a request, for each protocol."""
    if target := request.headers.get("X-Amz-Target"):
        return target.rpartition(".")[2]
    if action := parse_qs(request.get_data().decode(errors="replace")).get("Action"):
        return action[0]
    try:
        model = get_service_model(service)
    except UnknownServiceError:
        return ""
    for name in model.operation_names:
        http = model.operation_model(name).http
        path = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(http["requestUri"].partition("?")[0]))
        if http["method"] == request.method and re.fullmatch(f"{path}/?", request.path):
            return str(name)
    return ""


def answered(service: str, operation: str, result: Document | ServiceError) -> Response:
    """Return the answer that boto3 reads as `result`, which must have the shape of the service's model."""
    model = get_service_model(service)
    protocol = model.metadata["protocol"]
    if isinstance(result, ServiceError):
        return refused(result, protocol)
    operation_model = model.operation_model(operation)
    wrong = ParamValidator().validate(result, operation_model.output_shape)
    if wrong.has_errors():
        raise AssertionError(f"{service} {operation} cannot answer so: {wrong.generate_report()}")
    sent = get_serializer_class(service, protocol)(operation_model=operation_model).serialize(result)
    return Response(sent["body"], sent["status_code"], sent["headers"])


def refused(error: ServiceError, protocol: str) -> Response:
    """Return an error in the form of a protocol. Source: Smithy, "AWS protocols"; EC2 API reference, "Error codes"."""
    if "json" in protocol:
        return Response(json.dumps(error.document()), error.status, {"X-Amzn-Errortype": error.code})
    inner = f"<Error><Code>{error.code}</Code><Message>{error}</Message></Error>"
    outer = {"ec2": f"<Response><Errors>{inner}</Errors></Response>", "rest-xml": inner}
    return Response(outer.get(protocol, f"<ErrorResponse>{inner}</ErrorResponse>"), error.status)
