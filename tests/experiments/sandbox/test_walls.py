"""What a box is asked to be made of, on machines that the tests are not on too: no box is started here."""

import os
import struct

import pytest

from experiments.sandbox import Limits
from experiments.sandbox.backends import DOCKER_VARIABLES, backend_named
from experiments.sandbox.inside import kernel, seccomp
from experiments.sandbox.inside.seccomp import ALLOW, AND, AT_LEAST, END, EQUAL, LOAD, REFUSE, RETURN, UNKNOWN
from experiments.sandbox.isolation import IN_A_CONTAINER, OTHERWISE, broken_promises, hints
from experiments.sandbox.languages import PYTHON

NAMESPACES = ("mount namespace", "pid namespace", "network namespace")
RIGHTS = ("limits", "unprivileged user", "no new privileges")
NAMES = {ALLOW: "allowed", REFUSE: "refused", UNKNOWN: "unknown", END: "ended"}


def verdict(program: bytes, machine: int, number: int, *arguments: int) -> str:
    """What becomes of a system call with these arguments (64 bits each)."""
    seen = struct.pack("<IIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("<HBBI", program))
    held, at = 0, 0
    while True:
        code, when_true, when_false, value = steps[at]
        at += 1
        if code == RETURN:
            return NAMES[value]
        if code == LOAD:
            held = struct.unpack_from("<I", seen, value)[0]
        elif code == AND:
            held &= value
        else:
            holds = {EQUAL: held == value, AT_LEAST: held >= value}[code]
            at += when_true if holds else when_false


A_THREAD = 0x3D0F00


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_what_it_does_not_name_on_every_machine(machine, monkeypatch):
    monkeypatch.setattr(kernel, "ARCHITECTURE", machine)
    program, numbers, me = seccomp.program(), seccomp.BY_MACHINE[machine], seccomp.MACHINES[machine]
    ask = {name: lambda *words, number=number: verdict(program, me, number, *words) for name, number in numbers.items()}

    picky = {"clone", "clone3", "ioctl", "kill", "prctl", "socketpair", "tgkill"}
    assert {name for name in ask if ask[name]() != "allowed"} == picky
    assert {verdict(program, me, number) for number in set(range(600)) - set(numbers.values())} == {"refused"}
    assert verdict(program, 0x40000003, 11) == "ended"
    if machine == "x86_64":
        assert verdict(program, me, 0x40000000 | 59) == "ended", "x32"
    assert ask["clone3"]() == "unknown"
    for name, granted, *denied in (  # words that are granted, and others that are not
        ("clone", (A_THREAD,), (0x11,), (A_THREAD | 1 << 28,)),
        ("kill", (os.getpid(), 6), (1, 9), (2**32 - 1, 9)),
        ("socketpair", (1, 0x80801), (1, 2), (2, 1)),
        ("sendto", (3, 0, 0, 0, 0), (3, 0, 0, 0, 1 << 40)),
        ("prlimit64", (0, 9), (1, 9)),
        ("fcntl", (3, 1), (3, 8)),
        ("ioctl", (1, 0x5401), (0, 0x5412)),
    ):
        assert ask[name](*granted) == "allowed"
        assert [ask[name](*words) for words in denied] == ["refused"] * len(denied)
    assert len(program) // 8 < 4096

    forbidden = """execve execveat fork vfork socket connect bind listen ptrace mount umount2 unshare setns pivot_root
        chroot bpf keyctl add_key perf_event_open userfaultfd io_uring_setup memfd_create process_vm_readv pidfd_getfd
        chmod link open_by_handle_at mknod mknodat init_module shmget sethostname setpriority sched_setscheduler"""
    assert not set(forbidden.split()) & set(numbers), "no table allows what a box must not do"
    assert set(seccomp.AARCH64) < set(seccomp.X86_64)


def test_a_container_is_started_with_the_same_limits():
    box = backend_named("docker:lab/python:3.13").box(PYTHON, Limits())
    command = " ".join(box.command)

    for part in (
        "docker run --rm --interactive",
        "--network none --ipc none --read-only --cap-drop ALL --user 65534:65534",
        "--security-opt no-new-privileges --pids-limit 34",
        "--memory 352321536 --memory-swap 352321536",
        "--tmpfs /tmp:rw,nosuid,nodev,noexec,size=16777216,nr_inodes=4000,mode=1777",
        "lab/python:3.13 python3 -I -S -B -X utf8 -c",
    ):
        assert part in command
    assert box.ending == ("docker", "rm", "--force", box.command[box.command.index("--name") + 1])
    assert not set(dict(box.environment)) - set(DOCKER_VARIABLES)


def test_either_namespaces_or_the_kernels_filters_suffice():
    for walls, broken in (
        ((*NAMESPACES, *RIGHTS), []),
        (("landlock", "seccomp", *RIGHTS), []),
        (("landlock", *RIGHTS), ["cut off the network", "shield other processes", "end everything at the end"]),
        (("seccomp", *RIGHTS), ["hide the files", "shield other processes"]),
        (NAMESPACES, ["limit what is used up", "take away all rights"]),
        ((), ["hide the files", "cut off the network", "shield other processes", "limit what is used up",
              "take away all rights", "end everything at the end"]),
    ):  # fmt: skip
        assert broken_promises(walls) == broken


def test_it_says_how_to_get_namespaces_on_debian_on_ubuntu_and_in_containers(tmp_path):
    def hints_on(machine, path, text=""):
        place = tmp_path / machine / path
        place.parent.mkdir(parents=True)
        place.write_text(text)
        return hints(tmp_path / machine)

    on_debian = hints_on("debian", "proc/sys/kernel/unprivileged_userns_clone", "0\n")
    assert "sysctl -w kernel.unprivileged_userns_clone=1" in on_debian[0]
    assert "AppArmor" in hints_on("ubuntu", "proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")[0]
    assert "user.max_user_namespaces=10000" in hints_on("none", "proc/sys/user/max_user_namespaces", "0\n")[0]
    assert hints_on("container", ".dockerenv") == [IN_A_CONTAINER]
    assert hints(tmp_path)[-1] == OTHERWISE
