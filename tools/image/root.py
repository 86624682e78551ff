"""The file trees of the image's layers: {path: Entry}."""

import dataclasses
import pathlib

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
USER = 65532
ZONES = pathlib.Path("/usr/share/zoneinfo")
# Copies of the same zones, with and without leap seconds.
NOT_ZONES = ("posix", "right")


@dataclasses.dataclass(frozen=True)
class Entry:
    content: bytes | None = None  # None: a folder, or a link
    link: str = ""
    mode: int = 0o644

    def size(self):
        return len(self.content or b"")


def folder(mode=0o755):
    return Entry(mode=mode)


def with_parents(tree):
    for path in list(tree):
        for parent in pathlib.PurePosixPath(path).parents:
            if str(parent) != ".":
                tree.setdefault(str(parent), folder())
    return tree


def zones():
    tree = {}
    for file in sorted(ZONES.rglob("*")):
        inside = file.relative_to(ZONES)
        if inside.parts[0] in NOT_ZONES or file.is_dir():
            continue
        target = file.readlink() if file.is_symlink() else None
        if target and not target.is_absolute():
            tree[f"usr/share/zoneinfo/{inside}"] = Entry(link=str(target), mode=0o777)
        elif file.exists():
            tree[f"usr/share/zoneinfo/{inside}"] = Entry(file.read_bytes())
    return tree


def system(debian, libraries, packages):
    """Everything but berth: changes with Debian's updates, not with berth's."""
    tree = {
        "lib": Entry(link="usr/lib", mode=0o777),
        "bin": Entry(link="usr/bin", mode=0o777),
        "usr/bin": folder(),
        "tmp": folder(0o1777),
        "etc/passwd": Entry(
            b"root:x:0:0:root:/:/nonexistent\n"
            + f"berth:x:{USER}:{USER}:berth:/tmp:/nonexistent\n".encode()
        ),
        "etc/group": Entry(b"root:x:0:\n" + f"berth:x:{USER}:\n".encode()),
        "etc/nsswitch.conf": Entry(b"passwd: files\ngroup: files\nhosts: files dns\n"),
        "etc/os-release": Entry(pathlib.Path("/etc/os-release").read_bytes()),
        "etc/ssl/certs/ca-certificates.crt": Entry(
            pathlib.Path("/etc/ssl/certs/ca-certificates.crt").read_bytes()
        ),
        # The default path of OpenSSL.
        "usr/lib/ssl/cert.pem": Entry(link="/etc/ssl/certs/ca-certificates.crt", mode=0o777),
        **zones(),
    }
    if debian.architecture == "amd64":
        tree["lib64"] = Entry(link="usr/lib64", mode=0o777)
    for path, file in libraries.items():
        tree[path] = Entry(file.read_bytes(), mode=0o755)
    for package in packages:
        # Scanners of images read the packages of images without dpkg here.
        tree[f"var/lib/dpkg/status.d/{package.name}"] = Entry(package.control.encode())
        if licence := debian.licence(package):
            tree[f"usr/share/doc/{package.name}/copyright"] = Entry(licence.read_bytes())
    return with_parents(tree)


def program(binary, bill):
    """berth, under its own name, as a plugin of kubectl would be called, and as kube-scheduler."""
    return with_parents(
        {
            "usr/bin/berth": Entry(binary.read_bytes(), mode=0o755),
            "usr/bin/kube-scheduler": Entry(link="berth", mode=0o777),
            "usr/share/doc/berth/copyright": Entry((REPOSITORY / "LICENSE").read_bytes()),
            "usr/share/berth/sbom.spdx.json": Entry(bill),
        }
    )
