"""A scheduler extender over HTTP whose answers the test chooses."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Extender:
    """answers: verb -> function of the request body, which returns the answer, or (status, text)."""

    def __init__(self, **answers):
        self.answers, self.calls = answers, []
        extender = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verb = self.path.rsplit("/", 1)[1]
                extender.calls.append((verb, body, dict(self.headers)))
                answer = extender.answers[verb](body)
                status, text = answer if isinstance(answer, tuple) else (200, json.dumps(answer))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/sched"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def config(self, **options):
        verbs = {f"{v}Verb": v for v in self.answers}
        return {"urlPrefix": self.url, "httpTimeout": "5s", **verbs, **options}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
