"""The Kubernetes programs beside which berth is tested, by minor: KUBERNETES=1.36 chooses one."""

import os
import pathlib
import re

E2E = pathlib.Path(__file__).resolve().parents[1]
MINOR = os.environ.get("KUBERNETES") or "1.37"


def number(minor):
    return int(minor.partition(".")[2])


def since(minor):
    """Whether the tests run beside this minor or a later one."""
    return number(MINOR) >= number(minor)


def version(minor=MINOR):
    """v1.37.1 of 1.37, as it is pinned."""
    folder = E2E / "peer" if minor == "1.34" else E2E / "peers" / minor
    (found,) = set(re.findall(r"k8s\.io/kubernetes (v[0-9.]+)", (folder / "go.mod").read_text()))
    return found


def peers_folder(minor=MINOR):
    """Where build-peers puts them. BERTH_E2E_CACHE names the folder of the chosen minor."""
    if minor == MINOR and "BERTH_E2E_CACHE" in os.environ:
        return pathlib.Path(os.environ["BERTH_E2E_CACHE"])
    caches = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    return caches / "berth-e2e" / version(minor)


def built(minor):
    return (peers_folder(minor) / "kube-apiserver").exists()


def said(message):
    """A message about a pod that fits nowhere, which tests have in the words of 1.34, in those of
    the chosen minor: since 1.37 the plugin of devices says nothing when it cannot help."""
    if since("1.37"):
        for words in ("no new claims to deallocate, ", "still not schedulable, "):
            message = message.replace(words, "")
    return message


def preempting(message, node, victims=1):
    """The message of a pod that has made others leave a node: since 1.37 it says so."""
    if not since("1.37"):
        return message
    return (
        f"{message} preemption: found a potential placement for pod on node {node}, "
        f"preempting {victims} victims"
    )
