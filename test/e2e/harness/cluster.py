"""A control plane on loopback: etcd and kube-apiserver with real certificates, RBAC and an audit log.

Nothing listens beyond 127.0.0.1. There is no controller manager: tests create pods themselves and play the volume
controller. Every process is ended by its pid in close().
"""

import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import urllib.request

from kubernetes import client

from . import kubeconfig
from .audit import POLICY, AuditLog
from .certs import Certificates
from .peers import MINOR, peers_folder
from .processes import Process, free_port, until
from .scheduler import Scheduler

SCHEDULER_USER = "system:kube-scheduler"
BERTH_ACCOUNT = ("kube-system", "berth")
# What needs a controller manager or a kubelet to be of use.
PLUGINS_OFF = "ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection"


def scratch_folder(prefix):
    """A temporary folder, in memory where there is such a file system: etcd is not what is tested."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=memory))


class Cluster:
    def __init__(self, folder, audit=True, apiserver_flags=(), minor=MINOR, data=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.apiserver_flags = list(apiserver_flags)
        self.data = data or scratch_folder("berth-e2e-etcd-")
        self.certs = Certificates(self.folder / "pki")
        self.etcd = self.apiserver = None
        self.schedulers = []
        self.audit = AuditLog(self.folder / "audit.log") if audit else None
        self.port = free_port()
        self.server = f"https://127.0.0.1:{self.port}"
        self._issue()
        try:
            self._start_etcd()
            self.start_apiserver(minor)
        except BaseException:
            self.close()
            raise

    def _issue(self):
        self.serving = self.certs.issue(
            "apiserver",
            "kube-apiserver",
            elliptic=True,
            hosts=("IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes.default.svc"),
        )
        self.admin_pair = self.certs.issue("admin", "admin", "system:masters", elliptic=True)
        self.scheduler_pair = self.certs.issue("scheduler", SCHEDULER_USER)
        self.admin_kubeconfig = kubeconfig.write(
            self.folder / "admin.conf",
            self.server,
            kubeconfig.by_inline_certificate(*self.admin_pair),
            ca_inline=self.certs.ca,
        )
        # The two ways control planes write it: files, and inline data (kubeadm).
        self.scheduler_kubeconfig = self.write_kubeconfig(
            "scheduler.conf", kubeconfig.by_inline_certificate(*self.scheduler_pair)
        )

    def write_kubeconfig(self, name, user, port=None):
        return kubeconfig.write(
            self.folder / name, f"https://127.0.0.1:{port or self.port}", user, ca=self.certs.ca
        )

    def _start_etcd(self):
        client_port, peer_port = free_port(), free_port()
        self.etcd_url = f"http://127.0.0.1:{client_port}"
        own = peers_folder() / "etcd"  # peers of 1.34 use the one in PATH
        self.etcd = Process(
            [
                str(own) if own.exists() else "etcd",
                "--name=e2e",
                f"--data-dir={self.data}",
                "--log-level=error",
                f"--listen-client-urls={self.etcd_url}",
                f"--advertise-client-urls={self.etcd_url}",
                f"--listen-peer-urls=http://127.0.0.1:{peer_port}",
                f"--initial-advertise-peer-urls=http://127.0.0.1:{peer_port}",
                f"--initial-cluster=e2e=http://127.0.0.1:{peer_port}",
                "--quota-backend-bytes=4294967296",
                "--snapshot-count=100000",
            ],
            self.folder / "etcd.log",
        )

        def healthy():
            assert self.etcd.running(), self.etcd.log_tail()
            with urllib.request.urlopen(self.etcd_url + "/health", timeout=2) as answer:
                return json.load(answer)["health"] == "true"

        until("etcd healthy", healthy)

    def start_apiserver(self, minor=None):
        """Of the minor it had, or another one."""
        self.minor = minor or self.minor
        argv = [
            peers_folder(self.minor) / "kube-apiserver",
            f"--etcd-servers={self.etcd_url}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.port}",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--tls-cert-file={self.serving[0]}",
            f"--tls-private-key-file={self.serving[1]}",
            f"--client-ca-file={self.certs.ca}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={self.certs.sa_key}",
            f"--service-account-key-file={self.certs.sa_pub}",
            f"--disable-admission-plugins={PLUGINS_OFF}",
            "--profiling=false",
            "--delete-collection-workers=8",
            # Requestheader data makes the extension-apiserver-authentication configmap complete.
            f"--requestheader-client-ca-file={self.certs.ca}",
            "--requestheader-allowed-names=front-proxy",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            *self.apiserver_flags,
        ]
        if self.audit:
            policy = self.folder / "audit-policy.yaml"
            policy.write_text(POLICY)
            argv += [
                f"--audit-policy-file={policy}",
                f"--audit-log-path={self.audit.path}",
                "--audit-log-maxsize=4096",
            ]
        self.apiserver = Process(argv, self.folder / "kube-apiserver.log")
        self.connect()
        until("kube-apiserver ready", self._ready, timeout=90, every=0.2)

    def _ready(self):
        assert self.apiserver.running(), self.apiserver.log_tail()
        context = ssl.create_default_context(cafile=str(self.certs.ca))
        with urllib.request.urlopen(self.server + "/readyz", timeout=5, context=context) as answer:
            return answer.read() == b"ok"

    def connect(self):
        """Clients of the admin. The connections of an API server that went away are not used again."""
        config = client.Configuration()
        config.host = self.server
        config.ssl_ca_cert = str(self.certs.ca)
        config.cert_file, config.key_file = map(str, self.admin_pair)
        config.connection_pool_maxsize = 32
        config.retries = False
        api = client.ApiClient(config)
        self.api = api
        self.core = client.CoreV1Api(api)
        self.events_api = client.EventsV1Api(api)
        self.storage = client.StorageV1Api(api)
        self.rbac = client.RbacAuthorizationV1Api(api)
        self.scheduling = client.SchedulingV1Api(api)
        self.policy = client.PolicyV1Api(api)
        self.coordination = client.CoordinationV1Api(api)
        self.apps = client.AppsV1Api(api)
        self.resource = client.ResourceV1Api(api)

    def stop_apiserver(self, kill=False):
        self.apiserver.kill() if kill else self.apiserver.stop()

    def token(self, account, namespace="default", secret=None):
        """A token of a service account; bound to a Secret when named, so that deleting the Secret
        revokes it."""
        spec = {"expirationSeconds": 3600, "audiences": None}
        if secret:
            spec["boundObjectRef"] = {"kind": "Secret", "apiVersion": "v1", "name": secret}
        answer = self.core.create_namespaced_service_account_token(
            account,
            namespace,
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec},
        )
        return answer.status.token

    def scheduler(self, name, **options):
        """Starts a scheduler under test; it is ended with the cluster if not before."""
        options.setdefault("kubeconfig", self.scheduler_kubeconfig)
        process = Scheduler(self.folder, name, **options)
        self.schedulers.append(process)
        return process

    def kubectl(self, *args):
        return subprocess.run(
            [
                str(peers_folder() / "kubectl"),
                f"--kubeconfig={self.admin_kubeconfig}",
                *map(str, args),
            ],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout

    def close(self):
        for process in self.schedulers:
            process.stop()
        if self.apiserver:
            self.apiserver.kill()
        if self.etcd:
            self.etcd.signal(signal.SIGCONT)
            self.etcd.kill()
        shutil.rmtree(self.data, ignore_errors=True)
