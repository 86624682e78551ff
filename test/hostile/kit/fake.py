"""An API server that a test makes up: lists, watches and bindings over HTTP/1.1, each of which the
test may answer with any bytes it likes."""

import http.client
import json
import queue
import re
import socket
import threading
import time
import urllib.parse

KINDS = {
    "nodes": "Node",
    "pods": "Pod",
    "namespaces": "Namespace",
    "services": "Service",
    "replicationcontrollers": "ReplicationController",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "persistentvolumes": "PersistentVolume",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "storageclasses": "StorageClass",
    "csinodes": "CSINode",
    "csidrivers": "CSIDriver",
    "csistoragecapacities": "CSIStorageCapacity",
    "volumeattachments": "VolumeAttachment",
    "poddisruptionbudgets": "PodDisruptionBudget",
    "resourceclaims": "ResourceClaim",
    "resourceslices": "ResourceSlice",
    "deviceclasses": "DeviceClass",
    "devicetaintrules": "DeviceTaintRule",
}


def node(name, **labels):
    room = {"cpu": "64", "memory": "64Gi", "pods": "1000"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": room}}


def pod(name, namespace="default", **spec):
    spec = {"schedulerName": "default-scheduler", "containers": [{"name": "c"}]} | spec
    return {"metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"}, "spec": spec}


def head(status=200, length=None, **headers):
    """The head of an answer; without a length it is chunked."""
    lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, 'Odd')}"]
    lines.append("Content-Type: " + headers.pop("content_type", "application/json"))
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return ("\r\n".join([*lines, framing]) + "\r\n\r\n").encode()


def chunk(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


class Request:
    def __init__(self, sock, method, target, headers, body):
        self.sock, self.method, self.headers, self.body = sock, method, headers, body
        self.path, _, self.query = target.partition("?")
        self.plural = self.path.rsplit("/", 1)[1]
        self.watch = "watch=true" in self.query or "watch=1" in self.query

    def answer(self, body, status=200):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.sock.sendall(head(status, len(data)) + data)


class Fake:
    """`attack(fake, request)` sees each request first. What it returns True for was answered; an
    exception closes the connection."""

    def __init__(self, attack=None):
        self.attack = attack
        self.lock = threading.Lock()
        self.version = 1
        self.objects = {plural: {} for plural in KINDS}
        self.watchers = []  # (plural, queue)
        self.bound = {}
        self.requests = {}  # (method, plural, watch): how often
        self.closed = False
        self.sockets = set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.closed = True
        self.listener.close()
        for sock in list(self.sockets):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def put(self, plural, item):
        """Creates or replaces an object and tells the watches."""
        with self.lock:
            self.version += 1
            item["metadata"]["resourceVersion"] = str(self.version)
            key = item["metadata"].get("namespace", ""), item["metadata"]["name"]
            kind = "MODIFIED" if key in self.objects[plural] else "ADDED"
            self.objects[plural][key] = item
            self._tell(plural, kind, item)

    def remove(self, plural, name, namespace=""):
        with self.lock:
            self.version += 1
            item = self.objects[plural].pop((namespace, name))
            item["metadata"]["resourceVersion"] = str(self.version)
            self._tell(plural, "DELETED", item)

    def frames(self, plural, data):
        """Sends bytes as they are to the watches of a kind."""
        with self.lock:
            for watched, events in self.watchers:
                if watched == plural:
                    events.put(data)

    def count(self, method, plural, watch=False):
        return self.requests.get((method, plural, watch), 0)

    def _tell(self, plural, kind, item):
        typed = self._typed(plural, item)
        line = json.dumps({"type": kind, "object": typed}).encode() + b"\n"
        for watched, events in self.watchers:
            if watched == plural:
                events.put(line)

    def _typed(self, plural, item):
        return {"kind": KINDS[plural], "apiVersion": self.api_version.get(plural, "v1")} | item

    api_version = {}

    def _accept(self):
        while not self.closed:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets.add(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            reader = sock.makefile("rb")
            while line := reader.readline():
                method, target, _ = line.decode().split(" ", 2)
                headers = http.client.parse_headers(reader)
                body = reader.read(int(headers.get("Content-Length", 0)))
                self._handle(Request(sock, method, target, headers, body))
        except (OSError, ValueError):
            pass
        finally:
            self.sockets.discard(sock)
            sock.close()

    def _handle(self, request):
        key = request.method, request.plural, request.watch
        with self.lock:
            self.requests[key] = self.requests.get(key, 0) + 1
        if self.attack and self.attack(self, request):
            return
        self.serve(request)

    def serve(self, request):
        """What a server would do."""
        if request.path == "/version":
            # Of the last minor whose clients list before they watch.
            request.answer({"major": "1", "minor": "34", "gitVersion": "v1.34.10"})
        elif request.path.endswith("/binding"):
            self._bind(request)
        elif request.method == "GET" and request.plural in KINDS:
            if request.watch:
                self._watch(request)
            else:
                self._list(request)
        elif request.method == "GET":
            self._get(request)
        else:
            request.answer({"kind": "Status", "status": "Success", "metadata": {}}, 201)

    def _get(self, request):
        found = re.search(r"/namespaces/([^/]+)/pods/([^/]+)$", request.path)
        item = self.objects["pods"].get(found.groups()) if found else None
        if item:
            request.answer(self._typed("pods", item))
        else:
            request.answer({"kind": "Status", "status": "Failure", "code": 404}, 404)

    def _list(self, request):
        group = re.match(r"/apis?/(.*)/" + request.plural, request.path)[1]
        self.api_version[request.plural] = group
        with self.lock:
            items = list(self.objects[request.plural].values())
            version = str(self.version)
        kind = KINDS[request.plural] + "List"
        request.answer(
            {
                "kind": kind,
                "apiVersion": group,
                "metadata": {"resourceVersion": version},
                "items": items,
            }
        )

    def _watch(self, request):
        events = queue.SimpleQueue()
        entry = request.plural, events
        since = int((re.search(r"resourceVersion=(\d+)", request.query) or [0, "0"])[1])
        with self.lock:
            self.watchers.append(entry)
            for item in self.objects[request.plural].values():
                if int(item["metadata"]["resourceVersion"]) > since:
                    typed = self._typed(request.plural, item)
                    events.put(json.dumps({"type": "ADDED", "object": typed}).encode() + b"\n")
        try:
            request.sock.sendall(head())
            while not self.closed:
                request.sock.sendall(chunk(events.get()))
        finally:
            with self.lock:
                self.watchers.remove(entry)

    def _bind(self, request):
        found = re.search(r"/namespaces/([^/]+)/pods/([^/]+)/binding", request.path)
        namespace, name = map(urllib.parse.unquote, found.groups())
        target = json.loads(request.body)["target"]["name"] if request.body[:1] == b"{" else None
        if target is None:  # protobuf: the name of the node is the last string that names one
            names = [key[1] for key in self.objects["nodes"] if key[1].encode() in request.body]
            target = max(names, key=len)
        item = json.loads(json.dumps(self.objects["pods"][namespace, name]))
        assert not item["spec"].get("nodeName"), "bound twice"
        item["spec"]["nodeName"] = target
        with self.lock:
            self.bound[namespace, name] = time.monotonic(), target
        request.answer({"kind": "Status", "status": "Success", "metadata": {}}, 201)
        self.put("pods", item)
