"""A causal language model of Transformers NeuronX behind Ray Serve.

The variable ENGINE_CONFIG names a JSON file: `pretrained_model_name_or_path`, a directory; `neuron_config`, with
`continuous_batching`, `quant` and `on_device_generation`; and what else NeuronAutoModelForCausalLM.from_pretrained
takes (n_positions, tp_degree, pp_stages, batch_size, amp).

POST /generate takes {"prompt": text or a list of texts, "sampling_params": {…}} and answers {"text_outputs": [prompt
and completion, …]}.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import torch
from fastapi import FastAPI, HTTPException
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from ray import serve
from transformers import AutoTokenizer
from transformers_neuronx import NeuronAutoModelForCausalLM
from transformers_neuronx.config import ContinuousBatchingConfig, GenerationConfig, NeuronConfig, QuantizationConfig

# The classes of the parts of `neuron_config`.
PARTS = {
    "continuous_batching": ContinuousBatchingConfig,
    "quant": QuantizationConfig,
    "on_device_generation": GenerationConfig,
}
app = FastAPI()


class Query(BaseModel):
    """The body of a request."""

    prompt: str | list[str]
    sampling_params: dict[str, Any] = Field(default_factory=dict)


# Functions stand before the deployment: serve.ingress pickles the routes, with what the module holds so far.
def meet() -> None:
    """Tell the Neuron runtime where the processes of a model on several nodes meet: on the head of the Ray cluster."""
    head = os.environ.get("FQ_RAY_IP")
    if head:
        os.environ["MASTER_ADDR"] = head
        port = os.environ.setdefault("MASTER_PORT", "43000")
        os.environ["CPU_COMM_ID"] = f"{head}:{port}"


def read(path: str) -> dict[str, Any]:
    """Return the arguments in a file, the parts of `neuron_config` as what the library wants them to be."""
    if not Path(path).is_file():
        raise RuntimeError(f"ENGINE_CONFIG is {path!r}, which is no file: set it in ray.env to the engine's JSON")
    arguments: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    neuron = arguments.pop("neuron_config", {})
    batching = neuron.get("continuous_batching") or {}
    size = batching.get("max_num_seqs") or batching.get("batch_size_for_shared_caches")
    if size:
        arguments["batch_size"] = int(size)
    neuron = {key: PARTS[key](**value) if key in PARTS else value for key, value in neuron.items() if value}
    if neuron:
        arguments["neuron_config"] = NeuronConfig(**neuron)
    return arguments


@serve.deployment
@serve.ingress(app)
class TNXAutoCausalDeployment:
    """One model on the devices of its replica."""

    def __init__(self) -> None:
        """Load the model of ENGINE_CONFIG and compile it for the devices."""
        meet()
        arguments = read(os.environ.get("ENGINE_CONFIG", ""))
        model = arguments.pop("pretrained_model_name_or_path", "")
        if not Path(model).is_dir():
            raise RuntimeError(f"pretrained_model_name_or_path of ENGINE_CONFIG is {model!r}, which is no directory")
        self.batch_size = arguments.get("batch_size", 1)
        self.length = arguments.get("n_positions", 2048)
        self.tokenizer = AutoTokenizer.from_pretrained(model)
        self.model = NeuronAutoModelForCausalLM.from_pretrained(model, **arguments)
        self.model.to_neuron()
        # The devices take one batch at a time.
        self.devices = asyncio.Lock()

    @app.post("/generate")
    async def generate(self, query: Query) -> Response:
        """Complete prompts."""
        prompts = [query.prompt] if isinstance(query.prompt, str) else query.prompt
        if not prompts:
            raise HTTPException(400, "prompt: there is none")
        async with self.devices:
            # In a thread: Serve's questions for the replica's health are answered meanwhile.
            outputs = await asyncio.to_thread(self.complete, prompts, query.sampling_params)
        return JSONResponse({"text_outputs": outputs})

    def complete(self, prompts: list[str], sampling: dict[str, Any]) -> list[str]:
        """Return the completions of prompts; a batch has the compiled size, and prompts of one number of tokens."""
        tokens = [self.tokenizer(prompt)["input_ids"] for prompt in prompts]
        groups: dict[int, list[int]] = {}
        for index, row in enumerate(tokens):
            groups.setdefault(len(row), []).append(index)
        outputs = [""] * len(prompts)
        for group in groups.values():
            for start in range(0, len(group), self.batch_size):
                batch = group[start : start + self.batch_size]
                full = batch + batch[-1:] * (self.batch_size - len(batch))
                with torch.inference_mode():
                    rows = torch.tensor([tokens[index] for index in full])
                    found = self.model.sample(rows, **{"sequence_length": self.length, **sampling})
                decoded = self.tokenizer.batch_decode(found[: len(batch)], skip_special_tokens=True)
                for index, text in zip(batch, decoded, strict=True):
                    outputs[index] = text
        return outputs


deployment = TNXAutoCausalDeployment.bind()
