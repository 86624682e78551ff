"""The image as one tar: an OCI image layout that also has the manifest.json of docker save."""

import dataclasses
import datetime
import gzip
import hashlib
import io
import json
import tarfile

import root

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


@dataclasses.dataclass(frozen=True)
class About:
    name: str  # with its tag
    version: str
    commit: str
    epoch: int
    architecture: str

    def created(self):
        return datetime.datetime.fromtimestamp(self.epoch, datetime.UTC).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )

    def labels(self):
        return {
            "org.opencontainers.image.title": "berth",
            "org.opencontainers.image.description": "A drop-in replacement for kube-scheduler",
            "org.opencontainers.image.version": self.version,
            "org.opencontainers.image.revision": self.commit,
            "org.opencontainers.image.created": self.created(),
            "org.opencontainers.image.licenses": "Apache-2.0",
        }


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def add(tar, path, entry, epoch):
    info = tarfile.TarInfo(path)
    info.mtime = epoch
    info.mode = entry.mode
    if entry.link:
        info.type, info.linkname = tarfile.SYMTYPE, entry.link
    elif entry.content is None:
        info.type = tarfile.DIRTYPE
    info.size = entry.size()
    tar.addfile(info, io.BytesIO(entry.content or b""))


def tar_of(tree, epoch):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(tree):
            add(tar, path, tree[path], epoch)
    return out.getvalue()


def config_of(about, diff_ids):
    return {
        "architecture": about.architecture,
        "os": "linux",
        "created": about.created(),
        "config": {
            "User": f"{root.USER}:{root.USER}",
            "Env": ["PATH=/usr/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
            "Entrypoint": ["/usr/bin/berth"],
            "WorkingDir": "/",
            "Labels": about.labels(),
        },
        "rootfs": {"type": "layers", "diff_ids": diff_ids},
        "history": [
            {"created": about.created(), "created_by": by}
            for by in ("Debian's libraries, CA certificates and time zones", "berth")
        ],
    }


def write(path, about, layers):
    """Writes the archive and returns the digest of the image's manifest."""
    blobs, diff_ids, compressed = {}, [], []

    def blob(media_type, data):
        digest = digest_of(data)
        blobs["blobs/" + digest.replace(":", "/")] = data
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    for layer in layers:
        plain = tar_of(layer, about.epoch)
        diff_ids.append(digest_of(plain))
        compressed.append(blob(LAYER, gzip.compress(plain, 6, mtime=0)))
    config = blob(CONFIG, as_json(config_of(about, diff_ids)))
    manifest = blob(
        MANIFEST,
        as_json(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": config,
                "layers": compressed,
                "annotations": about.labels(),
            }
        ),
    )
    manifest["platform"] = {"architecture": about.architecture, "os": "linux"}
    manifest["annotations"] = {
        "io.containerd.image.name": about.name,
        "org.opencontainers.image.ref.name": about.name.rsplit(":", 1)[1],
    }
    name_of = lambda descriptor: "blobs/" + descriptor["digest"].replace(":", "/")
    files = {
        **blobs,
        "oci-layout": as_json({"imageLayoutVersion": "1.0.0"}),
        "index.json": as_json({"schemaVersion": 2, "manifests": [manifest]}),
        "manifest.json": as_json(
            [
                {
                    "Config": name_of(config),
                    "RepoTags": [about.name],
                    "Layers": [name_of(layer) for layer in compressed],
                }
            ]
        ),
    }
    tree = root.with_parents({name: root.Entry(data) for name, data in files.items()})
    path.write_bytes(tar_of(tree, about.epoch))
    return manifest["digest"]
