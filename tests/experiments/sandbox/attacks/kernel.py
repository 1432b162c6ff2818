"""They make system calls that reach for the kernel itself."""

import ctypes
import mmap
import platform
OPEN_TREE, OPEN_FILE_SYSTEM, HERE, CLONE = 428, 430, -100, 1
REMOUNT, BIND = 32, 4096
USER, MOUNTS, NETWORK, PROCESSES = 0x10000000, 0x20000, 0x40000000, 0x20000000
# push rbx; mov eax, 310 (unshare); mov ebx, CLONE_NEWUSER; int 0x80; pop rbx; ret
CODE = bytes.fromhex("53 b8 36010000 bb 00000010 cd80 5b c3")
NAMESPACE = number_of(272, 97)
SET_FILTER, ALLOW = 1, 0x7FFF0000
SECOND, FORK = 0x40000000, 57


def kernel_mount(host):
    """Mounts and remounts, by the old calls and by the new ones."""
    mounts = (
        (b"none", b"/tmp", b"tmpfs", 0, None),
        (b"/", b"/tmp", None, BIND, None),
        (None, b"/", None, REMOUNT | BIND, None),
        (b"proc", b"/tmp", b"proc", 0, None),
    )
    return (
        granted(number_of(165, 40), *mounts)
        or granted(number_of(166, 39), (b"/tmp", 2))
        or granted(OPEN_TREE, (HERE, b"/", CLONE))
        or granted(OPEN_FILE_SYSTEM, (b"tmpfs", 0))
    )


def kernel_namespaces(host):
    """Makes namespaces of its own, in which it would be root again."""
    kinds = (USER, MOUNTS, NETWORK, PROCESSES, USER | MOUNTS | NETWORK)
    return granted(NAMESPACE, *((kind,) for kind in kinds))


def kernel_old_calls(host):
    """Makes a system call by the door for 32-bit programs, where numbers mean something else to a filter."""
    if platform.machine() == "x86_64":
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(CODE)
        function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
        if function() == 0:
            return "has a namespace"


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def kernel_unfilter(host):
    """Takes the filter of system calls off, or puts one above it that lets everything pass."""
    library = ctypes.CDLL(None)
    allow_all = (ctypes.c_uint32 * 2)(0x06, ALLOW)
    program = Program(1, ctypes.addressof(allow_all))
    library.syscall(number_of(317, 277), SET_FILTER, 0, ctypes.byref(program))
    if library.syscall(NAMESPACE, USER) == 0:
        return "has a namespace"


def kernel_x32_calls(host):
    """Makes system calls by their second numbers, which a filter that compares numbers does not know."""
    if platform.machine() == "x86_64":
        call = ctypes.CDLL(None).syscall
        if call(SECOND | NAMESPACE, USER) == 0:
            return "has a namespace"
        number = call(SECOND | FORK)
        if number == 0:
            ctypes.CDLL(None)._exit(0)
        if number > 0:
            return "has a child"
