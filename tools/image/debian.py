"""What the image takes from Debian: shared libraries, and the packages that files come from.

They are those of this machine, or of a folder that tools/cross/sysroot made for another one."""

import dataclasses
import functools
import pathlib
import re
import subprocess

# How GNU calls Debian's architectures.
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}

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


def this_architecture():
    return run("dpkg", "--print-architecture").strip()


class System:
    """A Debian system: this one, or the unpacked packages of another architecture."""

    def __init__(self, architecture, root=pathlib.Path("/")):
        if architecture not in TRIPLETS:
            raise SystemExit(f"images for {architecture} are not built; {', '.join(TRIPLETS)} are")
        self.architecture = architecture
        self.root = root
        self.triplet = TRIPLETS[architecture]

    def inside(self, path):
        """A path of the system, as a file of this machine."""
        return self.root / str(path).lstrip("/")

    def strip(self, source, target):
        """The program without symbols, and without the build id: that depends on where it was built."""
        tool = "strip" if self.architecture == this_architecture() else f"{self.triplet}-strip"
        run(tool, "--strip-all", "--remove-section=.note.gnu.build-id", "-o", target, source)

    def libraries(self, program):
        """The shared libraries a program loads, and the loader: {path the loader looks at: file}."""
        loader, pending = headers(program)
        if not loader:
            raise SystemExit(f"{program} is not a program that loads shared libraries")
        found = {as_path(loader): self.inside(loader).resolve()}
        seen = {loader.split("/")[-1]}
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            path = f"usr/lib/{self.triplet}/{name}"
            if not self.inside(path).exists():
                raise SystemExit(f"{program}: {name} is not in {self.inside(path).parent}")
            found[path] = self.inside(path).resolve()
            pending += headers(found[path])[1]
        return found

    def package_of(self, file):
        """The package that owns a file. dpkg knows files by the name they had before /lib moved into /usr."""
        name = "/" + str(file.relative_to(self.root.resolve()))
        for known in (name, name.removeprefix("/usr")):
            answer = subprocess.run([*self.query(), "-S", known], capture_output=True, text=True)
            if answer.returncode == 0:
                return answer.stdout.split(": ")[0]
        raise SystemExit(f"{file} belongs to no Debian package")

    def query(self):
        return ["dpkg-query", f"--admindir={self.inside('/var/lib/dpkg')}"]

    def package(self, name):
        return parse(run(*self.query(), "-s", name))

    def packages(self, libraries):
        """The packages whose files are in the image, sorted."""
        names = {self.package_of(file) for file in libraries.values()}
        return sorted({self.package(name) for name in names} | set(data_packages()))

    def compiled_in(self):
        return sorted(self.package(name) for name in HEADER_PACKAGES)

    def licence(self, package):
        """The package's copyright file, which packages for all architectures have on this machine."""
        path = f"/usr/share/doc/{package.name}/copyright"
        for file in (self.inside(path), pathlib.Path(path)):
            if file.exists():
                return file
        return None


def as_path(path):
    """A path inside the image, in which /lib and /lib64 are links to folders of /usr, as in Debian."""
    path = path.lstrip("/")
    return path if path.startswith("usr/") else "usr/" + path


def headers(file):
    """The loader and the names of the libraries that a program or library asks for."""
    text = run("readelf", "--wide", "--dynamic", "--program-headers", file)
    loader = re.search(r"program interpreter: (\S+)\]", text)
    return loader and loader.group(1), re.findall(r"\(NEEDED\).*\[(\S+)\]", text)


def parse(control):
    fields = dict(re.findall(r"^(\S+): (.*)$", control, re.MULTILINE))
    return Package(
        fields["Package"],
        fields["Version"],
        fields["Architecture"],
        fields.get("Source", fields["Package"]),
        control,
    )


@functools.cache
def data_packages():
    """They are the same for all architectures, so this machine's serve."""
    return tuple(parse(run("dpkg-query", "-s", name)) for name in DATA_PACKAGES)
