"""They start, end, watch and outlive processes."""

import ctypes
import os
import resource
import signal
import subprocess
import time


CLONE = number_of(56, 220)
CLONE3 = 435
MEMORY_FILE = number_of(319, 279)
EXECUTE_AT = number_of(322, 281)
EMPTY_PATH = 0x1000
OPEN_PROCESS, SIGNAL_PROCESS, GET_DESCRIPTOR = 434, 424, 438
DEATH_SIGNAL, DUMPABLE, CHILD_SUBREAPER, NO_NEW_PRIVILEGES, ANYBODY_MAY_TRACE = 1, 4, 36, 38, 0x59616D61
TRACE_ME, ATTACH, SEIZE = 0, 16, 0x4206


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


def process_daemon(host):
    """Leaves a daemon behind that has left the group, and keeps every pipe of the parent open."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(120)
        os._exit(0)


def process_exec(host):
    """Becomes another program: a shell, which answers in its place."""
    shell = ["sh", "-c", "echo '\"forged\"'; exit 0"]
    return any_of(lambda path: os.execv(path, shell), "/bin/sh", "/usr/bin/sh", "/bin/busybox", "/bin/bash")


def process_exec_in_memory(host):
    """Runs a program that it writes into memory, so that it never was a file."""
    library = ctypes.CDLL(None)
    number = library.syscall(MEMORY_FILE, b"evil", 0)
    if number >= 0:
        os.write(number, b"#!/bin/sh\nsleep 60\n")
        nothing = (ctypes.c_char_p * 1)(None)
        library.syscall(EXECUTE_AT, number, b"", nothing, nothing, EMPTY_PATH)
        return "has a file in memory"


def process_fork(host):
    """Starts one child, which would go on after it."""
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    return "has a child"


def process_fork_bomb(host):
    """Multiplies itself for as long as it may; every child does the same."""
    refusals = 0
    while refusals < 100:
        try:
            os.fork()
        except OSError:
            refusals += 1


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


def process_kill_all(host):
    """Kills every process that it may kill."""
    os.kill(-1, signal.SIGKILL)


def process_kill_group(host):
    """Kills its own group, hoping that the one who waits for it is a member."""
    os.killpg(0, signal.SIGKILL)


def process_kill_itself(host):
    """Kills itself."""
    signal.raise_signal(signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


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


def process_leaves_group(host):
    """Leaves the session and the group by which it would be killed, and then stays."""
    for leave in (os.setsid, lambda: os.setpgid(0, 0), lambda: os.setpgid(0, os.getppid())):
        try:
            leave()
        except OSError:
            continue
    time.sleep(120)


def process_other_limits(host):
    """Changes the limits of the process that watches it."""
    numbers = {1, os.getppid(), host["pid"]} - {os.getpid(), 0}
    return any_of(lambda number: resource.prlimit(number, resource.RLIMIT_CPU, (1, 1)), *numbers)


def process_priority(host):
    """Goes before everybody else on the processor."""
    ways = (
        lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
        lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)),
        lambda: os.setpriority(os.PRIO_PROCESS, host["pid"], 19),
    )
    return any_of(lambda way: way(), *ways)


class Piece(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def process_read_memory(host):
    """Reads the memory of other processes by the system call for it."""
    text = ctypes.create_string_buffer(64)
    here = Piece(ctypes.addressof(text), 64)
    for number in {1, os.getppid(), host["pid"], *range(2, 100)} - {os.getpid(), 0}:
        for start in (0x400000, id(text), 0x7FFFF0000000):
            there = Piece(start, 64)
            copied = ctypes.CDLL(None).syscall(number_of(310, 270), number, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
            if copied > 0:
                return f"read {copied} bytes of {number}"


def process_stays_after_parents(host):
    """Asks not to be ended with its parent, to be seen, and to inherit the children of others."""
    control = ctypes.CDLL(None).prctl
    for option, value in ((DEATH_SIGNAL, 0), (DUMPABLE, 1), (CHILD_SUBREAPER, 1), (ANYBODY_MAY_TRACE, -1)):
        control(option, value, 0, 0, 0)
    if control(NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 0:
        return "may have new privileges"


def process_steal_descriptors(host):
    """Takes open files out of other processes."""
    call = ctypes.CDLL(None).syscall
    for number in {1, os.getppid(), host["pid"], *range(2, 50)} - {os.getpid(), 0}:
        process = call(OPEN_PROCESS, number, 0)
        for wanted in range(12) if process >= 0 else ():
            if call(GET_DESCRIPTOR, process, wanted, 0) >= 0:
                return f"took {wanted} of {number}"


def process_stop_itself(host):
    """Stops itself: it neither ends nor uses any time."""
    signal.raise_signal(signal.SIGSTOP)
    time.sleep(120)


def process_stop_parents(host):
    """Stops the processes that would have to end it, and stays."""
    for number in (os.getppid(), 1, host["pid"]):
        try:
            if number > 0:
                os.kill(number, signal.SIGSTOP)
        except OSError:
            continue
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


def process_trace(host):
    """Takes hold of its parents as a debugger does."""
    call = ctypes.CDLL(None).syscall
    for number in {1, os.getppid(), host["pid"]} - {os.getpid(), 0}:
        if call(number_of(101, 117), ATTACH, number, 0, 0) == 0 or call(number_of(101, 117), SEIZE, number, 0, 0) == 0:
            return f"holds {number}"
    if call(number_of(101, 117), TRACE_ME, 0, 0, 0) == 0:
        return "may be held"
