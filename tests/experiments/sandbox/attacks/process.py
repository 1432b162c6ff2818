"""They start, end, watch and outlive processes."""

import ctypes
import os
import signal
import subprocess
import time


CLONE = number_of(56, 220)
CLONE3 = 435
OPEN_PROCESS, SIGNAL_PROCESS = 434, 424
DEATH_SIGNAL, DUMPABLE, CHILD_SUBREAPER, NO_NEW_PRIVILEGES, ANYBODY_MAY_TRACE = 1, 4, 36, 38, 0x59616D61


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


def process_exec(host):
    """Becomes another program: a shell, which answers in its place."""
    shell = ["sh", "-c", "echo '\"forged\"'; exit 0"]
    return any_of(lambda path: os.execv(path, shell), "/bin/sh", "/usr/bin/sh", "/bin/busybox", "/bin/bash")


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
