"""Kubeconfig files, in the ways control planes write them. More fields of a cluster are given by
name: proxy_url=..."""

import json
import pathlib

from .certs import inline


def write(path, server, user, ca=None, ca_inline=None, **more):
    cluster = {"server": server}
    if ca:
        cluster["certificate-authority"] = str(ca)
    if ca_inline:
        cluster["certificate-authority-data"] = inline(ca_inline)
    cluster.update({k.replace("_", "-"): v for k, v in more.items()})
    pathlib.Path(path).write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "main",
                "clusters": [{"name": "e2e", "cluster": cluster}],
                "users": [{"name": "user", "user": user}],
                "contexts": [{"name": "main", "context": {"cluster": "e2e", "user": "user"}}],
            },
            indent=1,
        )
    )
    return pathlib.Path(path)


def by_certificate(crt, key):
    return {"client-certificate": str(crt), "client-key": str(key)}


def by_inline_certificate(crt, key):
    return {"client-certificate-data": inline(crt), "client-key-data": inline(key)}


def by_token(token):
    return {"token": token}


def by_token_file(path):
    return {"tokenFile": str(path)}


def by_command(argv):
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(argv[0]),
            "args": [str(a) for a in argv[1:]],
            "interactiveMode": "Never",
        }
    }
