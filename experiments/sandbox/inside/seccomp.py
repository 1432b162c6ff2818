"""Seccomp: which system calls may be made, enforced by the kernel on this process and its threads for good.

A list of what is allowed: whatever it does not name is refused with EPERM, so that libraries fall back or raise, and a
call by the numbers of another architecture ends the process.
"""

import _ctypes
import os

from . import kernel

# --- the one list of what is allowed ---

# Grouped by what they are for. Not here, and so refused: starting programs and processes, sockets, signals to others,
# tracing, mounts, namespaces, owners and modes of files, links, keys, perf, bpf, io_uring, memfd,
# userfaultfd, System V IPC.
# By name: its number on x86_64, and on aarch64 where it has the call.
CALLS: "dict[str, tuple[int, int | None]]" = {
    # reading and writing
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "pwrite64": (18, 68),
    "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286), "pwritev2": (328, 287), "lseek": (8, 62),
    "close": (3, 57), "close_range": (436, 436), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24),
    "sendfile": (40, 71), "copy_file_range": (326, 285),
    # files
    "fstat": (5, 80), "stat": (4, None), "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291),
    "statfs": (137, 43), "fstatfs": (138, 44), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50),
    "open": (2, None), "openat": (257, 56), "creat": (85, None), "getdents": (78, None), "getdents64": (217, 61),
    "mkdir": (83, None), "mkdirat": (258, 34), "unlink": (87, None), "unlinkat": (263, 35), "rmdir": (84, None),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "ftruncate": (77, 46), "fsync": (74, 82),
    "fdatasync": (75, 83), "fallocate": (285, 47), "fadvise64": (221, 223), "umask": (95, 166), "flock": (73, 32),
    # waiting
    "pipe": (22, None), "pipe2": (293, 59), "poll": (7, None), "ppoll": (271, 73), "select": (23, None),
    "pselect6": (270, 72), "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, None), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441), "eventfd": (284, None),
    "eventfd2": (290, 19), "timerfd_create": (283, 85), "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87),
    # memory
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214), "msync": (26, 227), "mincore": (27, 232), "membarrier": (324, 283),
    # threads
    "futex": (202, 98), "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293),
    "set_tid_address": (218, 96), "arch_prctl": (158, None), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "getcpu": (309, 168), "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    # time
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "alarm": (37, None), "setitimer": (38, 103),
    "getitimer": (36, 102), "timer_create": (222, 107), "timer_settime": (223, 110), "timer_gettime": (224, 108),
    "timer_delete": (226, 111),
    # itself
    "getrusage": (98, 165), "getrlimit": (97, 163), "setrlimit": (160, 164), "getpid": (39, 172), "getppid": (110, 173),
    "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getgroups": (115, 158), "getresuid": (118, 148), "getresgid": (120, 150), "getpgrp": (111, None),
    "uname": (63, 160), "sysinfo": (99, 179), "getrandom": (318, 278), "exit": (60, 93), "exit_group": (231, 94),
    "wait4": (61, 260), "waitid": (247, 95),
    # signals
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128), "pause": (34, None),
    # a pair of sockets
    "sendmsg": (46, 211), "recvmsg": (47, 212), "recvfrom": (45, 207), "shutdown": (48, 210), "getsockopt": (55, 209),
    "getsockname": (51, 204), "getpeername": (52, 205),
    # only with certain arguments
    "clone": (56, 220), "clone3": (435, 435), "fcntl": (72, 25), "ioctl": (16, 29), "kill": (62, 129),
    "prctl": (157, 167), "prlimit64": (302, 261), "sendto": (44, 206), "socketpair": (53, 199), "tgkill": (234, 131),
}  # fmt: skip
X86_64 = {name: number for name, (number, _) in CALLS.items()}
AARCH64 = {name: number for name, (_, number) in CALLS.items() if number is not None}
BY_MACHINE = {"x86_64": X86_64, "aarch64": AARCH64}


# --- the filter ---

LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, REFUSE, UNKNOWN, END = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000  # EPERM, ENOSYS, kill the process
NUMBER, MACHINE = 0, 4
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000
FILTER = 2

CLONE_THREAD = 0x00010000
CLONE_NEW = 0x7E020080
AF_UNIX, SOCK_STREAM, SOCK_KIND = 1, 1, 0xF
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# PR_SET_NAME, PR_GET_NAME, PR_SET_VMA
PRCTLS = (15, 16, 0x53564D41)


def low(argument: int) -> "tuple[int, int, int, int]":
    return (LOAD, 0, 0, 16 + 8 * argument)


def answer(value: int) -> "tuple[int, int, int, int]":
    return (RETURN, 0, 0, value)


def when(argument: int, values: "tuple[int, ...]", then: int, otherwise: int) -> "list[tuple[int, int, int, int]]":
    """One answer for these values of the argument's lower half, and another for all others."""
    found = [step for value in values for step in ((EQUAL, 0, 1, value), answer(then))]
    return [low(argument), *found, answer(otherwise)]


def conditions() -> "dict[str, list[tuple[int, int, int, int]]]":
    """What is allowed only with certain arguments."""
    myself, high = os.getpid(), (LOAD, 0, 0, 20 + 8 * 4)
    flags = [low(0), (AND, 0, 0, CLONE_THREAD | CLONE_NEW)]
    family = [low(0), (EQUAL, 1, 0, AF_UNIX), answer(REFUSE)]
    kind = [low(1), (AND, 0, 0, SOCK_KIND), (EQUAL, 0, 1, SOCK_STREAM), answer(ALLOW), answer(REFUSE)]
    no_address = [low(4), (EQUAL, 1, 0, 0), answer(REFUSE), high, (EQUAL, 0, 1, 0), answer(ALLOW), answer(REFUSE)]
    return {
        "clone": [*flags, (EQUAL, 0, 1, CLONE_THREAD), answer(ALLOW), answer(REFUSE)],
        "clone3": [answer(UNKNOWN)],  # its flags lie in memory, out of a filter's sight; without it, clone is used
        "fcntl": when(1, (F_SETOWN, F_SETSIG, F_SETOWN_EX), REFUSE, ALLOW),
        "ioctl": when(1, IOCTLS, ALLOW, REFUSE),
        "kill": when(0, (myself,), ALLOW, REFUSE),
        "prctl": when(0, PRCTLS, ALLOW, REFUSE),
        "prlimit64": when(0, (0, myself), ALLOW, REFUSE),
        "sendto": no_address,
        "socketpair": [*family, *kind],  # asyncio wakes itself through one; datagrams could reach a stranger's socket
        "tgkill": when(0, (myself,), ALLOW, REFUSE),
    }


def program() -> bytes:
    """The filter for this machine and this process; empty for a machine without a table."""
    if kernel.ARCHITECTURE not in BY_MACHINE:
        return b""
    special, steps = conditions(), beginning()
    for name, number in BY_MACHINE[kernel.ARCHITECTURE].items():
        block = special.get(name, [answer(ALLOW)])
        steps += [(EQUAL, 0, len(block), number), *block]
    return b"".join(encoded(step) for step in [*steps, answer(REFUSE)])


def beginning() -> "list[tuple[int, int, int, int]]":
    """The number of the call is at hand; calls by the numbers of another architecture have ended the process."""
    steps = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, MACHINES[kernel.ARCHITECTURE]), answer(END), (LOAD, 0, 0, NUMBER)]
    return [*steps, (AT_LEAST, 0, 1, X32), answer(END)] if kernel.ARCHITECTURE == "x86_64" else steps


def encoded(step: "tuple[int, int, int, int]") -> bytes:
    code, when_true, when_false, value = step
    return code.to_bytes(2, "little") + bytes((when_true, when_false)) + value.to_bytes(4, "little")


def install(steps: bytes) -> bool:
    """False when the kernel does not take the filter."""
    held = kernel.buffer(steps)
    header = (len(steps) // 8).to_bytes(8, "little") + _ctypes.addressof(held).to_bytes(8, "little")
    try:
        kernel.prctl(kernel.PR_SET_SECCOMP, FILTER, header)
    except OSError:
        return False
    return True
