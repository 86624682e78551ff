"""What a scheduler sent, read from kube-apiserver's audit log."""

import json
import urllib.parse

POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: ["admin", "system:apiserver"]
- level: Metadata
  verbs: [get, list, watch]
- level: RequestResponse
"""


class Request:
    """One audit entry: verb, path, query, body, code."""

    def __init__(self, entry):
        self.entry = entry
        self.verb = entry["verb"]
        self.user = entry["user"].get("username", "")  # none: the credentials were refused
        self.agent = entry.get("userAgent", "")
        self.path, _, query = entry["requestURI"].partition("?")
        self.raw_query = query
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.body = entry.get("requestObject")
        self.answer = entry.get("responseObject")
        self.code = entry.get("responseStatus", {}).get("code")
        self.stage = entry["stage"]

    def __repr__(self):
        return f"{self.verb} {self.path}?{self.raw_query} {json.dumps(self.body)} -> {self.code}"


class AuditLog:
    def __init__(self, path):
        self.path = path

    def position(self):
        return self.path.stat().st_size if self.path.exists() else 0

    def since(self, position=0, namespace=None):
        """Requests of non-admin users after a position of the file; those of one namespace when it
        is given."""
        found = []
        with open(self.path, "rb") as f:
            f.seek(position)
            for line in f:
                if not line.endswith(b"\n"):
                    break
                if namespace and f"/namespaces/{namespace}/".encode() not in line:
                    continue
                request = Request(json.loads(line))
                if namespace is None or f"/namespaces/{namespace}/" in request.path:
                    found.append(request)
        return found
