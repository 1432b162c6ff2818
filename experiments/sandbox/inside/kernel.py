"""System calls that Python has no name for."""

import _ctypes
import os

ARCHITECTURE = os.uname().machine
PRCTL = {"x86_64": 157, "aarch64": 167}
CAPSET = {"x86_64": 126, "aarch64": 91}
UNSHARE = {"x86_64": 272, "aarch64": 97}
MOUNT = {"x86_64": 165, "aarch64": 40}
UMOUNT = {"x86_64": 166, "aarch64": 39}
SETHOSTNAME = {"x86_64": 170, "aarch64": 161}
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
MOUNT_SETATTR = 442
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SIGKILL = 9
KILL_OTHERS = 1 << 5
CAPABILITY_VERSION_3 = 0x20080522
M_ARENA_MAX = -8


class Word(_ctypes._SimpleCData):  # type: ignore[type-arg]  # private, and not generic while running
    _type_ = "l"


class Byte(_ctypes._SimpleCData):  # type: ignore[type-arg]  # private, and not generic while running
    _type_ = "c"


class Foreign(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = Word


PROGRAM = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None is this program itself, which the stub leaves out


def foreign(name: str) -> Foreign:
    """A function of the C library; raises OSError when there is none of the name."""
    return Foreign(_ctypes.dlsym(PROGRAM, name))


def buffer(content: bytes) -> "_ctypes.Array[Byte]":
    """The bytes at an address of their own, for as long as the answer is kept."""
    return (Byte * len(content)).from_buffer_copy(content)


def call(number: int, *arguments: "int | bytes | None") -> int:
    """What the kernel answers; raises OSError as the os module does."""
    words = [Word(part) if isinstance(part, int) else part for part in (number, *arguments)]
    answer = foreign("syscall")(*words)
    if answer < 0:
        code = _ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(answer)


def prctl(option: int, value: int = 0, more: "int | bytes" = 0) -> int:
    return call(PRCTL[ARCHITECTURE], option, value, more, 0, 0)


def die_with_parent() -> None:
    prctl(PR_SET_PDEATHSIG, SIGKILL)


def drop_capabilities(kept: int = 0) -> None:
    """All of them but the one that is `kept` (as a bit), for good."""
    for number in range(64):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError:
            break  # past the last that the kernel knows, or none of the right to drop: then there are none to keep
    header = CAPABILITY_VERSION_3.to_bytes(4, "little") + bytes(4)
    bits = kept.to_bytes(4, "little")
    call(CAPSET[ARCHITECTURE], header, bits + bits + bytes(16))


def one_memory_arena() -> None:
    """Keeps threads from reserving 64 MiB of address space each, which the limit of memory would count."""
    try:
        foreign("mallopt")(Word(M_ARENA_MAX), Word(1))
    except OSError:
        return  # a C library other than GNU's: it has no arenas
