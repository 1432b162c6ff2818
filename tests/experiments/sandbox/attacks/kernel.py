"""They make system calls that reach for the kernel itself."""

import ctypes
import mmap
import os
import platform


CREATE_MAP = 0
INITIALIZE = number_of(175, 105)
OPEN_TREE, OPEN_FILE_SYSTEM, HERE, CLONE = 428, 430, -100, 1
REMOUNT, BIND = 32, 4096
USER, MOUNTS, NETWORK, PROCESSES = 0x10000000, 0x20000, 0x40000000, 0x20000000
# push rbx; mov eax, 310 (unshare); mov ebx, CLONE_NEWUSER; int 0x80; pop rbx; ret
CODE = bytes.fromhex("53 b8 36010000 bb 00000010 cd80 5b c3")
SOFTWARE, SIZE, USER_ONLY = 1, 112, 0b1100000
GET = number_of(29, 194)
ATTACH = number_of(30, 196)
DETACH = number_of(67, 197)
PIECE, MOST = 32 << 20, 512 << 20
NAMESPACE = number_of(272, 97)
SET_FILTER, ALLOW = 1, 0x7FFF0000
SECOND, FORK = 0x40000000, 57


def kernel_bpf(host):
    """Loads a program into the kernel."""
    array = (ctypes.c_uint32 * 32)(2, 4, 4, 1)  # an array of one entry of four bytes
    return granted(number_of(321, 280), (CREATE_MAP, array, 128))


def kernel_enter_namespaces(host):
    """Enters the namespaces of its parents."""
    for number in (1, os.getppid(), host["pid"], "self"):
        for kind in ("user", "mnt", "net", "pid", "ipc", "uts"):
            try:
                namespace = os.open(f"/proc/{number}/ns/{kind}", os.O_RDONLY)
            except OSError:
                continue
            if ctypes.CDLL(None).syscall(number_of(308, 268), namespace, 0) == 0:
                return f"entered {kind} of {number}"


def kernel_io_uring(host):
    """Has the kernel make its calls for it, by a queue that no filter of system calls sees."""
    return granted(425, (8, ctypes.create_string_buffer(256)))


def kernel_keys(host):
    """Stores a key in the kernel, to be found by the next program of the same user."""
    return granted(number_of(248, 217), *((b"user", b"note", b"secret", 6, ring) for ring in (-4, -3, -2)))


def kernel_modules(host):
    """Loads a module into the kernel."""
    ctypes.set_errno(0)
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall(INITIALIZE, b"no module", 9, b"")
    if ctypes.get_errno() not in (1, 38):  # EPERM, ENOSYS
        return f"was let in: {os.strerror(ctypes.get_errno())}"


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


def kernel_perf(host):
    """Listens to the processor's counters."""
    wish = (ctypes.c_uint64 * 14)(SOFTWARE | SIZE << 32, 0, 0, 0, 0, USER_ONLY)
    return granted(number_of(298, 241), (wish, 0, -1, -1, 0), (wish, -1, 0, -1, 0), (wish, host["pid"], -1, -1, 0))


def kernel_pivot_root(host):
    """Exchanges the root of the file system."""
    return granted(number_of(155, 41), (b"/tmp", b"/tmp"), (b".", b"."))


def kernel_shared_memory(host):
    """Fills shared memory, lets go of it and takes more: it stays, though no address space holds it."""
    call, taken = ctypes.CDLL(None).syscall, 0
    call.restype = ctypes.c_long
    while taken < MOST:
        number = call(GET, 0, ctypes.c_size_t(PIECE), 0o1600)
        start = call(ATTACH, number, None, 0) if number >= 0 else -1
        if start < 0:
            return None
        ctypes.memset(start, 1, PIECE)
        call(DETACH, ctypes.c_long(start))
        taken += PIECE
    return f"took {taken} bytes"


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


def kernel_userfaultfd(host):
    """Handles page faults itself: the usual help in attacks on the kernel."""
    return granted(number_of(323, 282), (0,), (1,), (os.O_CLOEXEC | os.O_NONBLOCK,))


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
