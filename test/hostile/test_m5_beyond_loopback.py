"""M5: on another address there is TLS, and a kubeconfig with which clients work. M6: what a client
without the token can hold. L7: the token."""

import os
import pathlib
import socket
import ssl
import subprocess

import pytest
from kit.up import BERTH, Up, answer
from kubernetes import client, config

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("up"), "--bind-address=0.0.0.0")
    yield up
    try:
        assert up.stop() == 0, up.log()
    finally:
        up.kill()


def test_m5_tls_with_the_authority_of_the_kubeconfig(up):
    assert up.server.startswith("https://")
    api = client.CoreV1Api(config.new_client_from_config(str(up.kubeconfig)))
    assert len(api.list_node().items) == 3
    api.create_namespaced_config_map("default", {"metadata": {"name": "by-client"}})
    stranger = ssl.create_default_context()
    with socket.create_connection((up.host, up.port)) as sock, pytest.raises(ssl.SSLError):
        stranger.wrap_socket(sock, server_hostname=up.host)


def test_m5_names_of_the_certificate(up):
    for host in ("localhost", "127.0.0.1", socket.gethostname()):
        with socket.create_connection((up.host, up.port)) as sock:
            up.context.wrap_socket(sock, server_hostname=host).close()


def test_m5_nothing_is_said_in_clear_text(up):
    with socket.create_connection((up.host, up.port), timeout=20) as sock:
        sock.sendall(b"GET /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n")
        said = sock.recv(4096)
    assert said.startswith(b"HTTP/1.0 400") and b"HTTPS server" in said


def test_m5_kubectl(up):
    """client-go sends credentials over TLS alone."""
    program = pathlib.Path(os.environ.get("BERTH_E2E_CACHE", "/nowhere")) / "kubectl"
    if not program.exists():
        pytest.skip("no kubectl: set BERTH_E2E_CACHE to the folder test/e2e/prepare prints")
    environment = os.environ | {"KUBECONFIG": str(up.kubeconfig), "HOME": str(up.folder)}
    done = subprocess.run(
        [program, "get", "nodes"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "node-0001" in done.stdout, done.stderr


def test_m5_a_scheduler_as_a_client(start):
    """berth scheduler sends its token as client-go does."""
    up = start("--bind-address=0.0.0.0", "--no-scheduler", canary=30)
    with open(up.folder / "scheduler.log", "wb") as log:
        scheduler = subprocess.Popen(
            [BERTH, "scheduler", f"--kubeconfig={up.kubeconfig}", "--leader-elect=false"]
            + ["--secure-port=0"],
            stdout=log,
            stderr=log,
        )
    try:
        up.canary(within=30)
    finally:
        up.flags.remove("--no-scheduler")
        up.restart()
        scheduler.kill()
        scheduler.wait()


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer x", "Basic x", "Bearer {}x", "Bearer {short}"]
)
def test_l7_the_token_and_nothing_else(up, given):
    value = given and given.format(up.token, short=up.token[:-1])
    status, said = up.request("GET", "/api/v1/nodes", headers={"Authorization": value})
    assert (status, said["reason"]) == (401, "Unauthorized")


def test_m6_the_token_is_looked_at_before_the_body(up):
    head = f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n"
    with up.dial() as sock:
        sock.sendall(head.encode())  # and no body
        assert answer(sock)[0] == 401


def test_m6_bodies_without_a_token_are_not_kept(up):
    head = f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n".encode()
    body = b"x" * 2_900_000
    for _ in range(25):
        with up.dial() as sock:
            try:
                sock.sendall(head + body)
            except OSError:
                pass
    assert up.rss() < 200
