"""A seccomp profile as container runtimes read it, applied to a process that is about to start."""

import ctypes
import json
import pathlib
import re
import struct

NUMBERS = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000
NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2


def allowed(profile):
    numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text()))
    names = [name for rule in json.loads(profile.read_text())["syscalls"] for name in rule["names"]]
    return [int(numbers[name]) for name in names if name in numbers]


def program(profile):
    """Instructions that end the process at a system call which the profile refuses: refusals would
    go unseen."""
    numbers = allowed(profile)
    code = [(LOAD, 0, 0, 0)]
    for number in numbers:  # each test is followed by its return: jumps are 8 bits wide
        code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    code.append((RETURN, 0, 0, KILL_PROCESS))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def apply(code):
    """For preexec_fn."""
    libc = ctypes.CDLL(None, use_errno=True)
    text = ctypes.create_string_buffer(code)
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SET_SECCOMP, FILTER, header):
        raise OSError(ctypes.get_errno(), "prctl")
