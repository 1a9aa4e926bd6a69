"""A stand-in for ComfyUI: its protocol over real HTTP and websockets on loopback, in threads.

It has `/prompt`, `/history/{id}`, `/view`, `/object_info/{class}`, `/queue`, `/interrupt` and
`/ws`, as far as clients use them. It checks workflows as ComfyUI does, runs one at a time, and
makes real PNG files. It can be stopped in the middle of a workflow, as if killed, and started
again.
"""

import base64
import contextlib
import hashlib
import json
import socket
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from urllib.parse import parse_qs, unquote, urlsplit

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.helpers import comfyui_nodes as library
from tests.helpers.waiting import PATIENCE

WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455
NUMBERS = {"INT": int, "FLOAT": float}


class Interrupted(Exception):
    pass


class ComfyServer:
    """A ComfyUI.

    Attributes:
        sockets: whether it has `/ws`.
        own_ids: whether it ignores the ids that clients give to workflows, as older servers do.
        failing: node id → the text of the exception that it raises.
        go: samplers wait for it at their first step.
        received: the workflows that were queued, as they were sent.
        interrupts: the ids that were to be interrupted.
    """

    def __init__(self, custom_nodes=None, sockets=True, own_ids=False):
        self.sockets, self.own_ids = sockets, own_ids
        self.custom_nodes = custom_nodes
        self.failing, self.received, self.interrupts = {}, [], []
        self.go = threading.Event()
        self.go.set()
        self.port = 0
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self.custom = {}
        for file in sorted(self.custom_nodes.glob("*.py")) if self.custom_nodes else ():
            self.custom |= library.load_custom(file)
        self.pending, self.running, self.history, self.files = [], [], {}, {}
        self.connections, self.clients = set(), {}
        self.changed = threading.Condition()
        self.alive = True
        handler = type("Handler", (_Handler,), {"comfy": self})
        self._http = _HTTPServer(("127.0.0.1", self.port), handler)
        self.port = self._http.server_port
        serving = {"poll_interval": 0.01}
        threading.Thread(target=self._http.serve_forever, kwargs=serving, daemon=True).start()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()
        return self

    def stop(self):
        """Stop as a process that is killed: connections end, the queue is lost."""
        with self.changed:
            self.alive = False
            self.changed.notify_all()
        self._http.shutdown()
        self._http.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):  # closed by the client
                connection.shutdown(socket.SHUT_RDWR)
        self._worker.join(PATIENCE)

    def object_info(self, kind):
        inputs = library.INPUTS.get(kind)
        if kind in self.custom:
            required = self.custom[kind].INPUT_TYPES()["required"]
            inputs = {name: list(about) for name, about in required.items()}
        if inputs is None:
            return {}
        about = {"input": {"required": inputs}, "output_node": kind in library.OUTPUT_NODES}
        return {kind: {**about, "name": kind}}

    def queue(self):
        return {
            "queue_running": [[0, job["id"], job["prompt"], {}, []] for job in self.running],
            "queue_pending": [[0, job["id"], job["prompt"], {}, []] for job in self.pending],
        }

    def submit(self, body):
        error, node_errors = self._problems(body["prompt"])
        if error:
            return 400, {"error": error, "node_errors": node_errors}
        self.received.append(body["prompt"])
        given = None if self.own_ids else body.get("prompt_id")
        job = {"id": given or f"own-{len(self.received)}", "prompt": body["prompt"]}
        with self.changed:
            self.pending.append({**job, "client": body.get("client_id")})
            self.changed.notify_all()
        return 200, {"prompt_id": job["id"], "number": len(self.received), "node_errors": {}}

    def delete(self, ids):
        with self.changed:
            self.pending = [job for job in self.pending if job["id"] not in ids]

    def interrupt(self, prompt_id):
        with self.changed:
            self.interrupts.append(prompt_id)
            self.changed.notify_all()

    def _problems(self, prompt):
        for node_id, node in prompt.items():
            if not self.object_info(node["class_type"]):
                message = f"Cannot execute because node {node['class_type']} does not exist."
                details = f"Node ID '#{node_id}'"
                return {"type": "invalid_prompt", "message": message, "details": details}, {}
        if not any(node["class_type"] in library.OUTPUT_NODES for node in prompt.values()):
            return {"type": "prompt_no_outputs", "message": "Prompt has no outputs"}, {}
        found = {}
        for node_id, node in prompt.items():
            errors = list(self._wrong_inputs(node))
            if errors:
                found[node_id] = {"errors": errors, "class_type": node["class_type"]}
        failed = "Prompt outputs failed validation"
        return ({"message": failed, "details": ""} if found else None), found

    def _wrong_inputs(self, node):
        inputs = node["inputs"]
        declared = self.object_info(node["class_type"])[node["class_type"]]["input"]["required"]
        for name, (kind, *details) in declared.items():
            about = details[0] if details else {}
            if name not in inputs:
                yield {"message": "Required input is missing", "details": name}
            elif isinstance(inputs[name], list):
                continue
            elif isinstance(kind, list) and inputs[name] not in kind:
                yield {"message": "Value not in list", "details": f"{name}: {inputs[name]!r}"}
            elif str(kind) in NUMBERS:
                value = inputs[name] = NUMBERS[kind](inputs[name])
                if not about.get("min", value) <= value <= about.get("max", value):
                    yield {"message": f"Value {value} is out of range", "details": name}

    def _work(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.pending or not self.alive)
                if not self.alive:
                    return
                job = self.pending.pop(0)
                self.running = [job]
            messages, outputs, status = [], {}, "success"
            self.tell(job, "execution_start")
            try:
                outputs = self._execute(job)
            except Interrupted:
                if not self.alive:
                    return
                status = "error"
                messages = [["execution_interrupted", {"prompt_id": job["id"]}]]
            except Exception as error:
                about = {"node_id": job["at"], "exception_message": str(error)}
                messages = [["execution_error", {"exception_type": "RuntimeError", **about}]]
                status = "error"
            for kind, about in messages or [("execution_success", {})]:
                self.tell(job, kind, **about)
            with self.changed:
                done = {"status_str": status, "messages": messages}
                self.history[job["id"]] = {"outputs": outputs, "status": done}
                self.running = []
            self.tell(job, "executing", node=None)

    def _execute(self, job):
        prompt, made, outputs = job["prompt"], {}, {}

        def output_of(node_id):
            if node_id in made:
                return made[node_id]
            node = prompt[node_id]
            inputs = {
                name: output_of(value[0])[value[1]] if isinstance(value, list) else value
                for name, value in node["inputs"].items()
            }
            job["at"] = node_id
            self.tell(job, "executing", node=node_id)
            if node_id in self.failing:
                raise RuntimeError(self.failing[node_id])
            if node["class_type"] in library.SAMPLING:
                self._steps(job, node_id)
            if node["class_type"] in library.OUTPUT_NODES:
                outputs[node_id] = {"images": self._save(job, inputs["images"])}
                made[node_id] = ()
            else:
                made[node_id] = library.run(node["class_type"], inputs, self.custom)
            return made[node_id]

        for node_id, node in prompt.items():
            if node["class_type"] in library.OUTPUT_NODES:
                output_of(node_id)
        return outputs

    def _steps(self, job, node_id):
        def stopped():
            return not self.alive or {job["id"], None} & set(self.interrupts)

        self.tell(job, "progress", node=node_id, value=1, max=4)
        picture = BytesIO()
        Image.new("RGB", (8, 8), "teal").save(picture, "JPEG")
        self.send(job["client"], 2, struct.pack(">II", 1, 1) + picture.getvalue())
        while not self.go.wait(0.005):
            if stopped():
                raise Interrupted
        for step in range(2, 5):
            self.tell(job, "progress", node=node_id, value=step, max=4)

    def _save(self, job, pictures):
        saved = []
        for picture in pictures:
            name = f"picture {len(self.files)} ü.png"
            about = PngInfo()
            about.add_text("prompt", json.dumps(job["prompt"]))
            file = BytesIO()
            Image.fromarray(picture).save(file, "PNG", pnginfo=about)
            self.files[name] = file.getvalue()
            saved.append({"filename": name, "subfolder": "", "type": "temp"})
        return saved

    def tell(self, job, kind, **about):
        message = {"type": kind, "data": {"prompt_id": job["id"], **about}}
        self.send(job["client"], 1, json.dumps(message).encode())

    def send(self, client_id, opcode, data):
        """Send an unmasked frame to a client, if it listens."""
        size = len(data)
        short = struct.pack(">BB", 0x80 | opcode, size)[:2] if size < 126 else None
        head = short or struct.pack(">BBH", 0x80 | opcode, 126, size)
        connection = self.clients.get(client_id)
        try:
            if connection is not None:
                connection.sendall(head + data)
        except OSError:
            self.clients.pop(client_id, None)


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Say what went wrong, unless a connection was broken."""
        if not isinstance(sys.exception(), OSError | ValueError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.comfy.connections.add(self.connection)

    def finish(self):
        self.comfy.connections.discard(self.connection)
        super().finish()

    def log_message(self, *args):
        pass

    def do_GET(self):
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        _, place, *rest = (unquote(part) for part in address.path.split("/"))
        if place == "ws" and self.comfy.sockets:
            self.listen(query.get("clientId"))
        elif place == "object_info":
            self.answer(self.comfy.object_info(rest[0]))
        elif place == "history":
            entry = self.comfy.history.get(rest[0])
            self.answer({rest[0]: entry} if entry else {})
        elif place == "queue":
            self.answer(self.comfy.queue())
        elif place == "view" and query.get("filename") in self.comfy.files:
            self.answer(self.comfy.files[query["filename"]], kind="image/png")
        else:
            self.answer(b"not found", 404, "text/plain")

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(data) if data else {}
        status, answer = 200, {}
        if self.path == "/prompt":
            status, answer = self.comfy.submit(body)
        elif self.path == "/queue":
            self.comfy.delete(body["delete"])
        elif self.path == "/interrupt":
            self.comfy.interrupt(body.get("prompt_id"))
        self.answer(answer, status)

    def answer(self, content, status=200, kind="application/json"):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def listen(self, client_id):
        key = (self.headers["Sec-WebSocket-Key"] + WEBSOCKET).encode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        accept = base64.b64encode(hashlib.sha1(key).digest()).decode()
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        self.comfy.clients[client_id] = self.connection
        self.close_connection = True
        self.comfy.send(client_id, 1, b'{"type": "status", "data": {"status": {}}}')
        received = self.rfile.read(6)  # the first frame of a client is that it closes
        if len(received) == 6:
            self.comfy.send(client_id, 8, b"")
        self.comfy.clients.pop(client_id, None)
