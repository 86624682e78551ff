"""Certificates of one cluster: a CA, a serving certificate and client certificates, made with
openssl."""

import base64
import pathlib
import subprocess


def _openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)


class Certificates:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca, self.ca_key = self.folder / "ca.crt", self.folder / "ca.key"
        _openssl(
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/CN=berth-e2e-ca",
            "-keyout",
            self.ca_key,
            "-out",
            self.ca,
        )
        self.sa_key, self.sa_pub = self.folder / "sa.key", self.folder / "sa.pub"
        _openssl("genrsa", "-out", self.sa_key, "2048")
        _openssl("rsa", "-in", self.sa_key, "-pubout", "-out", self.sa_pub)

    def issue(self, name, common_name, organisation=None, hosts=(), elliptic=False):
        """A signed pair (certificate, key); with hosts a serving certificate, else a client's."""
        crt, key, csr, ext = (self.folder / f"{name}.{e}" for e in ("crt", "key", "csr", "ext"))
        subject = (f"/O={organisation}" if organisation else "") + f"/CN={common_name}"
        kind = (
            ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
            if elliptic
            else ["-newkey", "rsa:2048"]
        )
        _openssl("req", "-new", *kind, "-nodes", "-subj", subject, "-keyout", key, "-out", csr)
        ext.write_text(
            "subjectAltName=" + ",".join(hosts) + "\nextendedKeyUsage=serverAuth\n"
            if hosts
            else "extendedKeyUsage=clientAuth\n"
        )
        _openssl(
            "x509",
            "-req",
            "-in",
            csr,
            "-CA",
            self.ca,
            "-CAkey",
            self.ca_key,
            "-CAcreateserial",
            "-days",
            "30",
            "-extfile",
            ext,
            "-out",
            crt,
        )
        return crt, key


def inline(path):
    return base64.b64encode(pathlib.Path(path).read_bytes()).decode()
