"""A proxy between a scheduler and the API server that reads requests and may answer them itself.

It speaks HTTP/1.1 over TLS on both sides and is known to the API server by a certificate of its own, so the scheduler
needs none: whatever it says of itself is passed on and not looked at.
"""

import json
import select
import socket
import ssl
import threading
import time


class Seen:
    """One request as it came."""

    def __init__(self, method, uri, headers, body, raw):
        self.method, self.uri, self.headers, self.body, self.raw = method, uri, headers, body, raw
        self.path = uri.partition("?")[0]
        self.time = time.monotonic()
        self.answered = None  # by us: the code

    def __repr__(self):
        return f"{self.method} {self.uri} {self.answered or ''}"


def answer(code, body, content_type="application/json", **headers):
    body = body if isinstance(body, bytes) else body.encode()
    head = {"Content-Type": content_type, "Content-Length": len(body), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
    return f"HTTP/1.1 {code} Whatever\r\n{lines}\r\n".encode() + body


def status(code, reason, message="injected", **headers):
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return answer(code, json.dumps(body), **headers)


class AnsweringProxy:
    """`decide` is shown every request; what it returns is the answer, nothing lets the request pass."""

    def __init__(self, cluster, decide):
        self.decide = decide
        self.seen = []
        self.port_of_server = cluster.port
        self.inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.inside.load_cert_chain(*map(str, cluster.serving))
        self.outside = ssl.create_default_context(cafile=str(cluster.certs.ca))
        self.outside.check_hostname = False
        self.outside.load_cert_chain(*map(str, cluster.scheduler_pair))
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def requests(self, method=None, ending=None):
        return [
            r
            for r in list(self.seen)
            if (method is None or r.method == method)
            and (ending is None or r.path.endswith(ending))
        ]

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, plain):
        # Both sides in one thread: a TLS connection is not for two.
        server, waiting = None, b""
        try:
            client = self.inside.wrap_socket(plain, server_side=True)
            while True:
                for side in readable(client, server):
                    data = side.recv(65536)
                    if not data:
                        return
                    if side is server:
                        client.sendall(data)
                        continue
                    waiting += data
                    while (parted := split_request(waiting)) is not None:
                        request, waiting = parted
                        self.seen.append(request)
                        made = self.decide(request)
                        if made is not None:
                            request.answered = int(made.split(b" ")[1])
                            client.sendall(made)
                            continue
                        if server is None:
                            server = self.outside.wrap_socket(
                                socket.create_connection(("127.0.0.1", self.port_of_server))
                            )
                        server.sendall(request.raw)
        except (OSError, ValueError):
            pass
        finally:
            for s in (plain, server):
                if s:
                    s.close()


def readable(*sides):
    sides = [s for s in sides if s]
    return [s for s in sides if s.pending()] or select.select(sides, [], [])[0]


def split_request(data):
    """The first request and what follows it; None: it is not complete."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return None
    first, *lines = head.decode().split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    size = int(headers.get("content-length", 0))
    if len(rest) < size:
        return None
    method, uri, _ = first.split(" ", 2)
    whole = len(head) + len(end) + size
    return Seen(method, uri, headers, rest[:size], data[:whole]), data[whole:]
