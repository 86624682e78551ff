"""What the image takes from this Debian system: shared libraries, and the packages that files come from."""

import dataclasses
import pathlib
import re
import subprocess

# Beside those of the libraries.
DATA_PACKAGES = ("ca-certificates", "tzdata")
# Libraries that are headers only: the compiler puts them into the program.
HEADER_PACKAGES = ("libboost1.81-dev", "libexpected-dev", "libprotozero-dev")


@dataclasses.dataclass(frozen=True, order=True)
class Package:
    name: str
    version: str
    architecture: str
    source: str
    control: str = dataclasses.field(compare=False, default="")


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def strip(source, target):
    """The program without symbols, and without the build id: that depends on where it was built."""
    run("strip", "--strip-all", "--remove-section=.note.gnu.build-id", "-o", target, source)


def libraries(program):
    """The shared libraries a program loads, and the loader: {path the loader looks at: file}."""
    found = {}
    for line in run("ldd", program).splitlines():
        if "not found" in line:
            raise SystemExit(f"{program}: {line.strip()}")
        match = re.search(r"(/\S+) \(0x", line)
        if match:
            # /lib and /lib64 are links to folders of /usr, here and in the image.
            path = (
                "usr" + match.group(1)
                if not match.group(1).startswith("/usr")
                else match.group(1)[1:]
            )
            found[path] = pathlib.Path(match.group(1)).resolve()
    return found


def package_of(file):
    """The package that owns a file. dpkg knows files by the name they had before /lib moved into /usr."""
    for name in (str(file), str(file).removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0]
    raise SystemExit(f"{file} belongs to no Debian package")


def package(name):
    control = run("dpkg-query", "-s", name)
    fields = dict(re.findall(r"^(\S+): (.*)$", control, re.MULTILINE))
    return Package(
        fields["Package"],
        fields["Version"],
        fields["Architecture"],
        fields.get("Source", fields["Package"]),
        control,
    )


def packages(libraries):
    """The packages whose files are in the image, sorted."""
    names = {package_of(file) for file in libraries.values()} | set(DATA_PACKAGES)
    return sorted(package(name) for name in names)


def compiled_in():
    return sorted(package(name) for name in HEADER_PACKAGES)
