"""A scheduler extender over HTTP whose answers the test chooses."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Extender:
    """answers: verb -> function of the request body, which returns the answer, or (status, text).
    calls: (verb, body, headers) of each request, in order; names of headers are read in any case.
    tls: the certificate and key to serve with, and the CA that clients must come from (or None)."""

    def __init__(self, tls=None, **answers):
        self.answers, self.calls = answers, []
        extender = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verb = self.path.rsplit("/", 1)[1]
                extender.calls.append((verb, body, self.headers))
                answer = extender.answers[verb](body)
                status, text = answer if isinstance(answer, tuple) else (200, json.dumps(answer))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                try:
                    self.end_headers()
                    self.wfile.write(text.encode())
                except OSError:  # the scheduler did not wait for it
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if tls:
            certificate, key, clients = tls
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            if clients:
                context.load_verify_locations(clients)
                context.verify_mode = ssl.CERT_REQUIRED
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}/sched"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def verbs(self):
        """The verbs that were asked, in order."""
        return [verb for verb, _, _ in self.calls]

    def config(self, **options):
        verbs = {f"{v}Verb": v for v in self.answers}
        return {"urlPrefix": self.url, "httpTimeout": "5s", **verbs, **options}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
