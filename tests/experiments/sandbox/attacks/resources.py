"""They take more than they are allowed: memory, time, output."""

import mmap
import resource
import time
import warnings

NAMES = [name for name in dir(resource) if name.startswith("RLIMIT_")]


def limits_raised(host):
    """Raises the limits that were set for it, and then takes what they forbade."""
    for name in NAMES:
        try:
            resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError):
            continue
    return len(bytearray(8 << 30))


def memory_mapped(host):
    """Maps 8 GB and writes to each page of it."""
    with mmap.mmap(-1, 8 << 30) as memory:
        for page in range(0, 8 << 30, 4096):
            memory[page] = 1
    return "has 8 GB"


def memory_survived(host):
    """Takes more than there is, gets over it and answers."""
    held = []
    try:
        while True:
            held.append(bytearray(1 << 22))
    except MemoryError:
        held.clear()


def output_slow(host):
    """Prints a letter now and then, for ever: who waits for silence waits long."""
    while True:
        print(".", end="", flush=True)
        time.sleep(0.01)


def output_warnings(host):
    """Has the interpreter write a gigabyte of warnings."""
    warnings.simplefilter("always")
    for _ in range(1024):
        warnings.warn("x" * (1 << 20), stacklevel=1)


def value_many_numbers(host):
    """Returns a list of a hundred million numbers."""
    return list(range(10**8))
