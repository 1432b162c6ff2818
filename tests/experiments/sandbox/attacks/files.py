"""They read, change and fill what is not theirs, and look for rights that they were not given."""

import json
import os
import re
import resource
import sys

ANSWER = re.compile(rb"answer-[0-9a-f]{32}")
ANYTHING = re.compile(rb"(answer|secret)-[0-9a-f]{32}")
PLACES = ["/tmp", "/box", "/dev/shm", "/run", "/var", "/home", "/root", "/opt", "/mnt", os.getcwd(), *sys.path]
SKIPPED = {"/usr", "/lib", "/lib64", "/proc", "/sys", "/dev", "/nix", "/snap"}
HARMLESS = {"LC_CTYPE", "PWD"}


def read(path):
    with open(path) as outside:
        return outside.read(1000)


def files_canary(host):
    """Reads files whose exact paths it knows, those of the project that runs it among them."""
    files = (".env", "pyproject.toml", "manage.py", "arenasite/settings.py", "var/key")
    return any_of(read, host["file"], *(os.path.join(host["project"], name) for name in files))


def files_changed(host):
    """Changes the rights and the times of a file outside, takes it in by another name, and gets rid of it."""
    inside, ways = f"/tmp/{host['marker']}", (
        lambda path: os.chmod(path, 0o777),
        lambda path: os.utime(path, (1, 1)),
        lambda path: os.link(path, inside),
        lambda path: os.truncate(path, 0),
        lambda path: os.rename(path, path + "2"),
        os.remove,
    )
    return any_of(lambda change: change(host["file"]), *ways) or any_of(
        lambda folder: write_into(folder, inside), host["folder"]
    )


def write_into(folder, link):
    os.symlink(folder, link)
    with open(f"{link}/new", "w") as outside:
        return outside.write("evil")


def files_core_dump(host):
    """Crashes, so that the system writes all its memory to a file where the parent stands."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass
    os.abort()


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


def secrets_become_root(host):
    """Becomes root, or somebody else."""
    numbers = {0, 1, 1000, 65533} - {os.getuid(), os.getgid()}
    for become in (os.setuid, os.setgid, os.seteuid, os.setegid, lambda one: os.setresuid(one, one, one)):
        if found := any_of(become, *numbers):
            return found
    return any_of(os.setgroups, [0])


def secrets_environment(host):
    """Reads its environment, which may hold nothing but what the interpreter puts there itself."""
    if names := set(os.environ) - HARMLESS:
        return f"found {sorted(names)}"


def secrets_privileges(host):
    """Looks at who it is: it should be nobody, without a capability and without a way to get one."""
    if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), *os.getgroups()):
        return "is root"
    try:
        with open("/proc/self/status") as status:
            facts = dict(line.split(":", 1) for line in status)
    except OSError:
        return None
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(facts[name], 16)]
    if held or int(facts["NoNewPrivs"]) != 1:
        return f"may do more than it should: {held}, {facts['NoNewPrivs']}"
