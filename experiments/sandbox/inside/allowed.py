"""Numbers of the system calls that a program in the box may make, by machine: the one list of what is allowed."""

# Grouped by what they are for. Not here, and so refused: starting programs and processes, sockets, signals to others,
# tracing, mounts, namespaces, owners and modes of files, links, keys, perf, bpf, io_uring, memfd,
# userfaultfd, System V IPC.
X86_64 = {
    # reading and writing
    "read": 0, "write": 1, "readv": 19, "writev": 20, "pread64": 17, "pwrite64": 18, "preadv": 295, "pwritev": 296,
    "preadv2": 327, "pwritev2": 328, "lseek": 8, "close": 3, "close_range": 436, "dup": 32, "dup2": 33, "dup3": 292,
    "sendfile": 40, "copy_file_range": 326,
    # files
    "fstat": 5, "stat": 4, "lstat": 6, "newfstatat": 262, "statx": 332, "statfs": 137, "fstatfs": 138, "access": 21,
    "faccessat": 269, "faccessat2": 439, "readlink": 89, "readlinkat": 267, "getcwd": 79, "chdir": 80, "fchdir": 81,
    "open": 2, "openat": 257, "creat": 85, "getdents": 78, "getdents64": 217, "mkdir": 83, "mkdirat": 258,
    "unlink": 87, "unlinkat": 263, "rmdir": 84, "rename": 82, "renameat": 264, "renameat2": 316, "ftruncate": 77,
    "fsync": 74, "fdatasync": 75, "fallocate": 285, "fadvise64": 221, "umask": 95, "flock": 73,
    # waiting
    "pipe": 22, "pipe2": 293, "poll": 7, "ppoll": 271, "select": 23, "pselect6": 270, "epoll_create": 213,
    "epoll_create1": 291, "epoll_ctl": 233, "epoll_wait": 232, "epoll_pwait": 281, "epoll_pwait2": 441, "eventfd": 284,
    "eventfd2": 290, "timerfd_create": 283, "timerfd_settime": 286, "timerfd_gettime": 287,
    # memory
    "mmap": 9, "mprotect": 10, "munmap": 11, "mremap": 25, "madvise": 28, "brk": 12, "msync": 26, "mincore": 27,
    "membarrier": 324,
    # threads
    "futex": 202, "set_robust_list": 273, "get_robust_list": 274, "rseq": 334, "set_tid_address": 218,
    "arch_prctl": 158, "sched_yield": 24, "sched_getaffinity": 204, "getcpu": 309, "sched_getparam": 143,
    "sched_getscheduler": 145, "sched_get_priority_max": 146, "sched_get_priority_min": 147,
    # time
    "nanosleep": 35, "clock_nanosleep": 230, "clock_gettime": 228, "clock_getres": 229, "gettimeofday": 96,
    "time": 201, "times": 100, "alarm": 37, "setitimer": 38, "getitimer": 36, "timer_create": 222,
    "timer_settime": 223, "timer_gettime": 224, "timer_delete": 226,
    # itself
    "getrusage": 98, "getrlimit": 97, "setrlimit": 160, "getpid": 39, "getppid": 110, "gettid": 186, "getuid": 102,
    "geteuid": 107, "getgid": 104, "getegid": 108, "getgroups": 115, "getresuid": 118, "getresgid": 120,
    "getpgrp": 111, "uname": 63, "sysinfo": 99, "getrandom": 318, "exit": 60, "exit_group": 231, "wait4": 61,
    "waitid": 247,
    # signals
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "rt_sigpending": 127, "rt_sigtimedwait": 128,
    "rt_sigsuspend": 130, "sigaltstack": 131, "restart_syscall": 219, "pause": 34,
    # a pair of sockets
    "sendmsg": 46, "recvmsg": 47, "recvfrom": 45, "shutdown": 48, "getsockopt": 55, "getsockname": 51,
    "getpeername": 52,
    # only with certain arguments
    "clone": 56, "clone3": 435, "fcntl": 72, "ioctl": 16, "kill": 62, "prctl": 157,
    "prlimit64": 302, "sendto": 44, "socketpair": 53, "tgkill": 234,
}  # fmt: skip

AARCH64 = {
    # reading and writing
    "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "pwrite64": 68, "preadv": 69, "pwritev": 70,
    "preadv2": 286, "pwritev2": 287, "lseek": 62, "close": 57, "close_range": 436, "dup": 23, "dup3": 24,
    "sendfile": 71, "copy_file_range": 285,
    # files
    "fstat": 80, "newfstatat": 79, "statx": 291, "statfs": 43, "fstatfs": 44, "faccessat": 48, "faccessat2": 439,
    "readlinkat": 78, "getcwd": 17, "chdir": 49, "fchdir": 50, "openat": 56, "getdents64": 61, "mkdirat": 34,
    "unlinkat": 35, "renameat": 38, "renameat2": 276, "ftruncate": 46, "fsync": 82, "fdatasync": 83,
    "fallocate": 47, "fadvise64": 223, "umask": 166, "flock": 32,
    # waiting
    "pipe2": 59, "ppoll": 73, "pselect6": 72, "epoll_create1": 20, "epoll_ctl": 21, "epoll_pwait": 22,
    "epoll_pwait2": 441, "eventfd2": 19, "timerfd_create": 85, "timerfd_settime": 86, "timerfd_gettime": 87,
    # memory
    "mmap": 222, "mprotect": 226, "munmap": 215, "mremap": 216, "madvise": 233, "brk": 214, "msync": 227,
    "mincore": 232, "membarrier": 283,
    # threads
    "futex": 98, "set_robust_list": 99, "get_robust_list": 100, "rseq": 293, "set_tid_address": 96, "sched_yield": 124,
    "sched_getaffinity": 123, "getcpu": 168, "sched_getparam": 121, "sched_getscheduler": 120,
    "sched_get_priority_max": 125, "sched_get_priority_min": 126,
    # time
    "nanosleep": 101, "clock_nanosleep": 115, "clock_gettime": 113, "clock_getres": 114, "gettimeofday": 169,
    "times": 153, "setitimer": 103, "getitimer": 102, "timer_create": 107, "timer_settime": 110, "timer_gettime": 108,
    "timer_delete": 111,
    # itself
    "getrusage": 165, "getrlimit": 163, "setrlimit": 164, "getpid": 172, "getppid": 173, "gettid": 178, "getuid": 174,
    "geteuid": 175, "getgid": 176, "getegid": 177, "getgroups": 158, "getresuid": 148, "getresgid": 150, "uname": 160,
    "sysinfo": 179, "getrandom": 278, "exit": 93, "exit_group": 94, "wait4": 260, "waitid": 95,
    # signals
    "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "rt_sigpending": 136, "rt_sigtimedwait": 137,
    "rt_sigsuspend": 133, "sigaltstack": 132, "restart_syscall": 128,
    # a pair of sockets
    "sendmsg": 211, "recvmsg": 212, "recvfrom": 207, "shutdown": 210, "getsockopt": 209, "getsockname": 204,
    "getpeername": 205,
    # only with certain arguments
    "clone": 220, "clone3": 435, "fcntl": 25, "ioctl": 29, "kill": 129, "prctl": 167,
    "prlimit64": 261, "sendto": 206, "socketpair": 199, "tgkill": 131,
}  # fmt: skip

BY_MACHINE = {"x86_64": X86_64, "aarch64": AARCH64}
