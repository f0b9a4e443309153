# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause
"""What a browser does with a notebook, in a pod of the image of containers/notebook: `python browser.py SERVICE TOKEN`.

It is refused without the token; with it, it gets the page, starts a kernel and has it run a cell over a WebSocket.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
import uuid

import websocket

SERVICE, TOKEN = sys.argv[1:]
JUPYTER, BOARD = f"{SERVICE}:8888", f"{SERVICE}:6006"
LOGIN = {"Authorization": f"token {TOKEN}"}


def ask(url: str, headers: dict[str, str], method: str = "GET") -> tuple[int, bytes]:
    """Return the status and body of an answer."""
    data = b"{}" if method == "POST" else None
    try:
        request = urllib.request.Request(f"http://{url}", headers=headers, method=method, data=data)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, b""


print("without a token", ask(f"{JUPYTER}/api/contents", {})[0])
print("another token", ask(f"{JUPYTER}/api/contents", {"Authorization": "token x"})[0])
print("page", b"JupyterLab" in ask(f"{JUPYTER}/lab", LOGIN)[1])
print("notebooks", [one["name"] for one in json.loads(ask(f"{JUPYTER}/api/contents", LOGIN)[1])["content"]])
kernel = json.loads(ask(f"{JUPYTER}/api/kernels", LOGIN, "POST")[1])["id"]
channels = websocket.create_connection(f"ws://{JUPYTER}/api/kernels/{kernel}/channels", header=LOGIN, timeout=120)
about = {"msg_id": uuid.uuid4().hex, "session": "s", "username": "u", "msg_type": "execute_request", "version": "5.3"}
cell = {"code": "print('cell', 6 * 7)", "silent": False, "store_history": False, "user_expressions": {}}
message = {"header": about, "parent_header": {}, "metadata": {}, "content": cell, "channel": "shell"}
channels.send(json.dumps(message))
while (answer := json.loads(channels.recv()))["msg_type"] != "stream":
    pass
print(answer["content"]["text"].strip())
print("tensorboard", b"TensorBoard" in ask(f"{BOARD}/", {})[1])
print("runs", json.loads(ask(f"{BOARD}/data/runs", {})[1]))
