"""They start, end, watch and outlive processes, and make system calls that reach for the kernel itself."""

import ctypes
import mmap
import os
import platform
import signal
import subprocess
import time

CLONE = number_of(56, 220)
CLONE3 = 435
OPEN_PROCESS, SIGNAL_PROCESS = 434, 424
DEATH_SIGNAL, DUMPABLE, CHILD_SUBREAPER, NO_NEW_PRIVILEGES, ANYBODY_MAY_TRACE = 1, 4, 36, 38, 0x59616D61
USER, MOUNTS, NETWORK, PROCESSES = 0x10000000, 0x20000, 0x40000000, 0x20000000
# push rbx; mov eax, 310 (unshare); mov ebx, CLONE_NEWUSER; int 0x80; pop rbx; ret
CODE = bytes.fromhex("53 b8 36010000 bb 00000010 cd80 5b c3")
NAMESPACE = number_of(272, 97)
SET_FILTER, ALLOW = 1, 0x7FFF0000


def process_clone(host):
    """Starts a child by system calls that the C library does not use for it."""
    call = ctypes.CDLL(None).syscall
    request = (ctypes.c_uint64 * 8)(0, 0, 0, 0, int(signal.SIGCHLD), 0, 0, 0)
    for start in (lambda: call(CLONE, int(signal.SIGCHLD), 0, 0, 0, 0), lambda: call(CLONE3, request, 64)):
        number = start()
        if number == 0:
            os._exit(0)
        if number > 0:
            return "has a child"


def process_ignores_signals(host):
    """Ignores and blocks every signal that asks it to end, and stays."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass


def process_kill_parents(host):
    """Kills the processes that started it, by their numbers here and outside."""
    call = ctypes.CDLL(None).syscall
    for number in {1, os.getppid(), host["pid"]} - {os.getpid(), 0}:
        try:
            os.kill(number, signal.SIGKILL)
        except OSError:
            pass
        if (descriptor := call(OPEN_PROCESS, number, 0)) >= 0:
            call(SIGNAL_PROCESS, descriptor, int(signal.SIGKILL), None, 0)


def process_stays_after_parents(host):
    """Asks not to be ended with its parent, to be seen, and to inherit the children of others."""
    control = ctypes.CDLL(None).prctl
    for option, value in ((DEATH_SIGNAL, 0), (DUMPABLE, 1), (CHILD_SUBREAPER, 1), (ANYBODY_MAY_TRACE, -1)):
        control(option, value, 0, 0, 0)
    if control(NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 0:
        return "may have new privileges"


def process_stays(host):
    """Leaves the session and the group by which it would be killed, stops those who would have to, and stays."""
    ways = (os.setsid, lambda: os.setpgid(0, 0), lambda: os.setpgid(0, os.getppid()))
    for leave in (*ways, *(lambda number=number: stop(number) for number in (os.getppid(), 1, host["pid"]))):
        try:
            leave()
        except OSError:
            continue
    time.sleep(120)


def stop(number):
    if number > 0:
        os.kill(number, signal.SIGSTOP)


def process_stop_itself(host):
    """Stops itself: it neither ends nor uses any time."""
    signal.raise_signal(signal.SIGSTOP)
    time.sleep(120)


def process_subprocess(host):
    """Runs a program, by each of the library's ways."""
    for path in ("/bin/sh", "/usr/bin/id", "/bin/true"):
        for start in (subprocess.check_call, lambda command: os.posix_spawn(command[0], command, {})):
            try:
                start([path])
                return f"ran {path}"
            except (OSError, subprocess.SubprocessError):
                continue
    if os.system("true") == 0:
        return "ran a command"


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
