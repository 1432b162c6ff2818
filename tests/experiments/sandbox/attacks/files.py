"""They read, change and fill what is not theirs: files, folders, disks."""

import ctypes
import json
import os
import re
import resource
import shutil
import stat
import sys


DISKS = ("/dev/mem", "/dev/kmsg", "/dev/port", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/kvm", "/dev/fuse")
SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/self/oom_score_adj",
    "/proc/1/oom_score_adj",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
)
NOTES = ["/tmp/note", "/dev/shm/note", "note", os.path.expanduser("~/note")]
ANSWER = re.compile(rb"answer-[0-9a-f]{32}")
ANYTHING = re.compile(rb"(answer|secret)-[0-9a-f]{32}")
PLACES = ["/tmp", "/box", "/dev/shm", "/run", "/var", "/home", "/root", "/opt", "/mnt", os.getcwd(), *sys.path]
SKIPPED = {"/usr", "/lib", "/lib64", "/proc", "/sys", "/dev", "/nix", "/snap"}


def files_by_handle(host):
    """Opens the root of the file system by its number, as a program once left its container."""
    handle = (ctypes.c_uint32 * 4)(8, 1, 2, 0)  # eight bytes, type 1, inode 2
    for path in ("/", "/tmp", "/usr"):
        try:
            folder = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        if ctypes.CDLL(None).syscall(number_of(304, 265), folder, ctypes.byref(handle), os.O_RDONLY) >= 0:
            return "opened by its number"


def read(path):
    with open(path) as outside:
        return outside.read(1000)


def files_canary(host):
    """Reads a file whose exact path it knows."""
    return read(host["file"])


def files_chmod(host):
    """Changes the rights of a file outside."""
    return any_of(lambda mode: os.chmod(host["file"], mode), 0o000, 0o777)


def files_core_dump(host):
    """Crashes, so that the system writes all its memory to a file where the parent stands."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass
    os.abort()


def files_destroy(host):
    """Empties, renames and removes a file outside."""
    ways = (lambda path: os.truncate(path, 0), lambda path: os.rename(path, path + "2"), os.remove)
    if found := any_of(lambda destroy: destroy(host["file"]), *ways):
        return found
    shutil.rmtree(host["folder"], ignore_errors=True)


def files_device_nodes(host):
    """Opens disks and the machine's memory, and makes the device nodes that are missing."""
    nodes = ((stat.S_IFCHR, 1, 1), (stat.S_IFBLK, 8, 0), (stat.S_IFBLK, 254, 0))
    return any_of(lambda path: os.open(path, os.O_RDONLY), *DISKS) or any_of(
        lambda node: os.mknod(f"/tmp/node{node[1]}", 0o666 | node[0], os.makedev(*node[1:])), *nodes
    )


def files_environ_of_all(host):
    """Reads the environment of every process that it can see, first of all of number 1."""
    numbers = ["1", "self", str(os.getppid()), str(host["pid"])]
    try:
        numbers += [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        pass
    for number in numbers:
        try:
            with open(f"/proc/{number}/environ", errors="replace") as environment:
                text = environment.read()
        except OSError:
            continue
        if "secret-" in text or "CANARY" in text:
            return text


def files_exists(host):
    """Asks whether a file outside is there, which tells much without a right to read."""
    return any_of(os.stat, host["file"], host["folder"], host["project"], host["socket"])


def files_hard_link(host):
    """Takes the file outside in by a second name."""
    os.link(host["file"], f"/tmp/{host['marker']}")
    return read(f"/tmp/{host['marker']}")


def files_kernel_settings(host):
    """Changes settings of the kernel: which program is run when one crashes, and the like."""
    for path in SETTINGS:
        try:
            with open(path, "r+") as setting:
                value = setting.readline().strip() or "0"
                if path.endswith("oom_score_adj"):
                    value = str(int(value) - 1)
                setting.seek(0)
                setting.write(value)
            return f"wrote {path}"
        except (OSError, ValueError):
            continue


def files_left_behind(host):
    """Leaves a note for its next test: each test has to have a box of its own."""
    if any(map(os.path.exists, NOTES)):
        return "an earlier test was here"
    for note in NOTES:
        try:
            open(note, "w").close()
        except OSError:
            continue


def files_memory_of_itself(host):
    """Searches its own memory, page by page, for a value it was not given."""
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
            for line in maps:
                if found := search(memory, line):
                    return found
    except OSError:
        pass
    return "nothing found"


def search(memory, line):
    bounds, rights, *_ = line.split()
    if "r" not in rights or "[v" in line:
        return None
    start, end = (int(bound, 16) for bound in bounds.split("-"))
    try:
        memory.seek(start)
        found = ANSWER.search(memory.read(end - start))
    except (OSError, ValueError, OverflowError):
        return None
    return found.group().decode() if found else None


def files_memory_of_others(host):
    """Opens the memory of every other process, to read and to write it."""
    for number in {1, os.getppid(), host["pid"], *range(2, 200)} - {os.getpid()}:
        for mode in ("rb", "r+b"):
            try:
                with open(f"/proc/{number}/mem", mode, 0) as memory, open(f"/proc/{number}/maps") as maps:
                    memory.seek(int(maps.readline().split("-")[0], 16))
                    return f"{number}: {memory.read(16)!r}"
            except (OSError, ValueError):
                continue


def files_open_descriptors(host):
    """Reads whatever its parents left open, by number and through /proc/self/fd."""
    seen = b""
    for number in range(256):
        for source in (number, f"/proc/self/fd/{number}"):
            try:
                opened = os.open(source, os.O_RDONLY | os.O_NONBLOCK) if isinstance(source, str) else source
                os.set_blocking(opened, False)
                seen += os.read(opened, 1 << 16)
                seen += os.pread(opened, 1 << 16, 0)
            except OSError:
                continue
        try:
            seen += os.readlink(f"/proc/self/fd/{number}").encode()
        except OSError:
            pass
    found = ANYTHING.search(seen)
    return found.group().decode() if found else "nothing found"


def files_open_folders(host):
    """Climbs out through an open folder, should one have been left open."""
    return any_of(lambda number: climb_from(number, host["file"]), *range(256))


def climb_from(number, path):
    os.fchdir(number)
    os.chdir("../" * 40)
    return read(path.lstrip("/"))


def files_own_source(host):
    """Looks for the expected value beside its own source, its arguments and whatever else lies in the box."""
    paths = [globals().get("__file__") or "", sys.argv[0], "/proc/self/cmdline", "/proc/1/cmdline"]
    for place in PLACES:
        for folder, _, names in os.walk(place) if not place.startswith(("/usr", sys.base_prefix)) else ():
            paths += [os.path.join(folder, name) for name in names]
    for path in filter(os.path.isfile, paths):
        try:
            with open(path, "rb") as file:
                if found := ANSWER.search(file.read(1 << 20)):
                    return found.group().decode()
        except OSError:
            continue
    return "nothing found"


def files_parent_folders(host):
    """Climbs from where it stands up to the root, and reads every small file in sight."""
    for path in readable("../" * 40):
        with open(path, "rb") as file:
            if found := re.search(rb"secret-[0-9a-f]{32}", file.read(1 << 20)):
                return found.group().decode()


def readable(top):
    for folder, folders, names in os.walk(os.path.realpath(top)):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in SKIPPED]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.access(path, os.R_OK):
                yield path


def files_project(host):
    """Reads the project that runs it, with its settings and keys."""
    files = (".env", "pyproject.toml", "manage.py", "arenasite/settings.py", "var/key")
    return any_of(read, *(os.path.join(host["project"], name) for name in files))


def files_sparse(host):
    """Makes one file of a terabyte without writing it."""
    with open("/tmp/sparse", "wb", 0) as file:
        ways = (lambda: os.truncate(file.name, 1 << 40), lambda: os.pwrite(file.fileno(), b"x", 1 << 40))
        return any_of(lambda grow: grow(), *ways)


def files_symlink_traps(host):
    """Replaces everything that it may by links to the file outside: who reads or cleans up here follows them."""
    for folder in ("/tmp", "/box", "/dev/shm", os.getcwd()):
        for name in ["result", "result.json", "output", "stdout", "stderr", *names(folder)]:
            try:
                path = os.path.join(folder, name)
                if os.path.lexists(path):
                    os.remove(path)
                os.symlink(host["file"], path)
                os.symlink(host["folder"], path + ".folder")
            except OSError:
                continue


def names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def files_symlink_write(host):
    """Writes into the folder outside through a symbolic link inside."""
    inside = f"/tmp/{host['marker']}"
    os.symlink(host["folder"], inside)
    with open(f"{inside}/new", "w") as outside:
        return f"wrote {outside.write('evil')} letters"


def files_through_processes(host):
    """Goes around the walls through the magic links of its parents: cwd, root, exe and open files."""
    numbers = ("self", "thread-self", "1", os.getppid(), host["pid"])
    ways = ("root", "cwd", "root/proc/1/root", "cwd/../../../../../..")
    return any_of(read, *(f"/proc/{number}/{way}{host['file']}" for number in numbers for way in ways))


def files_utime(host):
    """Changes the times of a file outside."""
    os.utime(host["file"], (1, 1))
    return "changed its times"


def files_write_interpreter(host):
    """Plants code in the interpreter that the next program will be run with."""
    places = [os.path.dirname(os.__file__), os.path.dirname(json.__file__), sys.prefix, sys.base_prefix]
    places += ["/usr/lib/python3/dist-packages", "/usr/local/lib", "/usr/bin", *sys.path]
    names = [os.path.join(place, f"{host['marker']}.py") for place in places if os.path.isabs(place)]
    return any_of(lambda name: open(name, "w").write("evil = True"), *names)


def files_write_outside(host):
    """Leaves a file wherever it may, in its own box too: none may be seen on the machine."""
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "/root", "/home", "/etc", ".", host["cwd"]):
        leave(place, host)
    places = (host["folder"], host["project"], os.path.dirname(host["project"]), host["cwd"])
    strange = [place for place in places if place != "/tmp"]  # its own /tmp, where the project may lie, is its own
    if written := [place for place in strange if leave(place, host)]:
        return f"wrote into {written}"


def leave(place, host):
    try:
        with open(os.path.join(place, f"{host['marker']}.txt"), "w") as file:
            return file.write("I was here")
    except OSError:
        return 0
