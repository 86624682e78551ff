"""A TCP proxy between a scheduler and the API server, to cut connections or to hold the bytes back."""

import socket
import threading
import time


class TcpProxy:
    def __init__(self, target_port):
        self.target_port = target_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.sockets = set()
        self.open = threading.Event()  # set: bytes flow
        self.open.set()
        self.refusing = False
        self.accepted = 0
        self.closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Ends every connection there is; new ones are taken."""
        with self.lock:
            victims, self.sockets = self.sockets, set()
        for s in victims:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()
        return len(victims) // 2

    def hold(self):
        """Bytes stop flowing in both directions; connections stay."""
        self.open.clear()

    def release(self):
        self.open.set()

    def refuse(self, refusing):
        """While refusing, new connections are closed at once."""
        self.refusing = refusing

    def close(self):
        self.closed = True
        self.listener.close()
        self.release()
        self.cut()

    def greet(self, client):
        """What is said to a client before its bytes are passed on: nothing."""

    def _accept(self):
        while not self.closed:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                if self.refusing:
                    raise OSError("refusing")
                self.greet(client)
                server = socket.create_connection(("127.0.0.1", self.target_port), timeout=5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            with self.lock:
                self.sockets |= {client, server}
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(a, b), daemon=True).start()

    def _pump(self, source, sink):
        try:
            while True:
                data = source.recv(65536)
                while not self.open.wait(0.5):
                    time.sleep(0)
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        for s in (source, sink):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            with self.lock:
                self.sockets.discard(s)
            s.close()


class ConnectProxy(TcpProxy):
    """An HTTP proxy that takes CONNECT requests for its one target (proxy-url of a kubeconfig)."""

    def __init__(self, target_port):
        self.asked = []
        super().__init__(target_port)

    def greet(self, client):
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            part = client.recv(1)
            if not part:
                raise OSError("the client went away")
            request += part
        self.asked.append(request.split(b"\r\n")[0].decode())
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
