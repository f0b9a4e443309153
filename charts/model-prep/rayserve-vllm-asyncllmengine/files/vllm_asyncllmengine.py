"""A vLLM engine behind Ray Serve.

The variable ENGINE_CONFIG names a JSON file with the arguments of the engine: those of vllm.AsyncEngineArgs.

POST /generate takes {"prompt": …, "sampling_params": {…}, "stream": false} and answers {"text_outputs": [prompt and
completion, …]}. As a stream it answers JSON objects {"text": […]}, each with all text so far and a NUL behind it.
"""

import json
import os
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field
from ray import serve
from vllm import AsyncEngineArgs, AsyncLLMEngine, RequestOutput, SamplingParams

app = FastAPI()


class Query(BaseModel):
    """The body of a request; `prompt` is text, or what else vLLM takes as one."""

    prompt: str | dict[str, Any]
    sampling_params: dict[str, Any] = Field(default_factory=dict)
    stream: bool = False


# Functions stand before the deployment: serve.ingress pickles the routes, with what the module holds so far.
def texts(result: RequestOutput) -> list[str]:
    """Return each completion behind its prompt; a prompt of token numbers has no text."""
    return [(result.prompt or "") + output.text for output in result.outputs]


async def pieces(first: RequestOutput, rest: AsyncIterator[RequestOutput]) -> AsyncIterator[bytes]:
    """Yield the pieces of a stream."""
    yield piece(first)
    async for result in rest:
        yield piece(result)


def piece(result: RequestOutput) -> bytes:
    """Return one piece of a stream."""
    return json.dumps({"text": texts(result)}).encode() + b"\0"


@serve.deployment
@serve.ingress(app)
class VLLMDeployment:
    """One engine; Serve starts it again when the engine is dead."""

    def __init__(self) -> None:
        """Start the engine with the arguments of ENGINE_CONFIG."""
        path = os.environ.get("ENGINE_CONFIG", "")
        if not Path(path).is_file():
            raise RuntimeError(f"ENGINE_CONFIG is {path!r}, which is no file: set it in ray.env to the engine's JSON")
        arguments = json.loads(Path(path).read_text(encoding="utf-8"))
        self.engine = AsyncLLMEngine.from_engine_args(AsyncEngineArgs(**arguments))

    async def check_health(self) -> None:
        """Raise an exception when the engine is dead."""
        await self.engine.check_health()

    @app.post("/generate")
    async def generate(self, query: Query) -> Response:
        """Complete a prompt. vLLM gives a request up when its client goes away."""
        try:
            sampling = SamplingParams(**query.sampling_params)
        except (TypeError, ValueError) as error:
            raise HTTPException(400, f"sampling_params: {error}") from error
        results = self.engine.generate(query.prompt, sampling, uuid.uuid4().hex)
        try:
            result = await anext(results)
            if query.stream:
                return StreamingResponse(pieces(result, results), media_type="application/octet-stream")
            async for newer in results:
                result = newer
        except ValueError as error:
            raise HTTPException(400, f"prompt: {error}") from error
        return JSONResponse({"text_outputs": texts(result)})


deployment = VLLMDeployment.bind()
