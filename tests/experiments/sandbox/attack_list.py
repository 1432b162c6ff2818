"""Every attack on the sandbox, and how it must end.

A program answers `solve(word, host)` with the word turned around, and attacks where the word is "attack". It is told
all that an attacker could wish to know of the machine (see machines.py), but not `host.answer`, which is what some
tests expect of it. Each runs with a test before the attacked one and a test after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from experiments.sandbox import Limits
from tests.experiments.sandbox.sources import RUNNABLE, UNRUNNABLE

FOLDER = Path(__file__).parent / "attacks"
SOURCES = UNRUNNABLE | RUNNABLE
HURRIED = Limits(seconds=0.6, total_seconds=60)


@dataclass(frozen=True)
class Attack:
    """`attacked` and `others` are the verdicts that the attacked test, and the two around it, may end with."""

    name: str
    attacked: frozenset[str]
    others: frozenset[str] = frozenset({"passed"})
    is_cheat: bool = False  # it would have to know the answer that nobody told it
    works_unboxed: bool = False  # whoever runs it does harm where there are no walls: it is no attack in name only
    limits: Limits = field(default_factory=Limits)

    @property
    def code(self) -> str:
        if self.name in SOURCES:
            return SOURCES[self.name]
        return (FOLDER / f"{self.name}.py").read_text()

    def __str__(self) -> str:
        return self.name


def attacks(verdicts: str, names: str, **facts: object) -> Iterator[Attack]:
    """An attack of each name, with the same facts. `verdicts`: those that will do for the attacked test."""
    return (Attack(name, frozenset(verdicts.split()), **facts) for name in names.split())  # type: ignore[arg-type]


REFUSED_SILENTLY = """
    files_shadow files_memory_of_others files_through_processes files_open_folders files_write_interpreter
    files_symlink_traps files_device_nodes files_chown files_sparse files_left_behind files_chroot files_by_handle
    files_kernel_settings secrets_environment_of_libc secrets_keyring secrets_privileges secrets_become_root
    secrets_host_name net_tcp_ipv6 net_vsock net_dns net_raw net_metadata net_listen net_browser net_terminal
    process_exec_in_memory process_multiprocessing process_stays_after_parents process_trace process_read_memory
    process_steal_descriptors process_priority process_other_limits process_kill_parents kernel_namespaces
    kernel_enter_namespaces kernel_mount kernel_pivot_root kernel_keys kernel_userfaultfd kernel_io_uring kernel_bpf
    kernel_perf kernel_modules kernel_shared_memory kernel_unfilter process_thread_bomb
    process_fork_bomb process_daemon files_fill_disk files_environ_of_all files_write_outside files_parent_folders
"""
REFUSED_AND_REAL = """
    files_passwd files_canary files_project files_exists files_symlink_read kernel_memory_file
    files_symlink_write files_hard_link files_chmod files_utime files_destroy secrets_environment net_tcp net_udp
    net_unix net_unix_abstract net_netlink process_fork process_vfork process_clone process_subprocess
"""
HUNTS = """
    files_own_source files_open_descriptors files_memory_of_itself secrets_command_lines hunted_frames hunted_objects
    hunted_modules hunted_input hunted_tracing
"""
FORGERIES = """
    channel_forged channel_forged_one_each channel_token_found channel_frames channel_nested channel_numbers
    forged_all_passed exit_prints_after_answer patched_json patched_builtins patched_output patched_harness
    patched_modules equal_text equal_number equal_mapping equal_class equal_entry equal_always pickled_object
"""
ENDS = """
    exit_os exit_sys exit_raised exit_interrupted exit_own_exception exit_aborted exit_crashed files_core_dump
    channel_closed patched_inspect recursion_deep input_at_end
"""
NO_JSON = """
    value_cyclic value_nested value_function value_bytes value_set value_surrogate value_no_number value_long_number
    value_keys value_recursive_repr text_null_returned value_growing
"""
TOO_LARGE = "value_long_text value_shared value_list_of_lists value_generator"
PRINTERS = "output_stdout output_stderr output_descriptors output_one_line output_warnings"
HANGS = """
    time_sleep time_busy time_pattern time_holds_interpreter output_slow process_leaves_group process_stop_itself
    process_stop_parents process_ignores_signals channel_half limits_time_moved value_awaited
"""
ANSWERS_AND_MORE = """
    time_at_exit time_in_thread time_in_deletion exit_after_answer value_arguments_changed text_not_unicode
    text_null memory_survived
"""

ATTACKS = (
    # Refused, and the program then answers with the truth: "passed" says that nothing was gained.
    *attacks("passed", REFUSED_SILENTLY),
    *attacks("passed", REFUSED_AND_REAL, works_unboxed=True),
    *attacks("passed error", "kernel_old_calls kernel_x32_calls process_exec process_exec_python process_kill_all"),
    *attacks("passed error", "process_kill_group process_kill_itself channel_read_from text_surrogate patched_exit"),
    *attacks("passed", ANSWERS_AND_MORE),
    # The answer is not there to be found, and nothing else is taken for it.
    *attacks("failed error", HUNTS, is_cheat=True),
    *attacks("failed error", FORGERIES, is_cheat=True),
    *attacks("failed error output_limit", "channel_flooded", is_cheat=True),
    *attacks("passed failed error", "channel_garbage"),
    *attacks("error", "exit_faulthandler", is_cheat=True),
    *attacks("error", ENDS),
    *attacks("error output_limit", "exit_long_error"),
    *attacks("error", "exit_at_import", others=frozenset({"error"})),
    *attacks("failed error", NO_JSON),
    *attacks("output_limit error memory", TOO_LARGE),
    # What it may use up.
    *attacks("memory", "memory_at_once memory_bit_by_bit value_many_numbers limits_raised"),
    *attacks("memory error", "memory_mapped recursion_unlimited recursion_in_threads"),
    *attacks("output_limit", PRINTERS),
    *attacks("timeout", HANGS, limits=HURRIED),
    *attacks("timeout memory", "time_power memory_of_numbers", limits=HURRIED),
    *attacks("passed error memory output_limit", "files_countless"),
    *attacks("timeout", "time_at_import", others=frozenset({"timeout"}), limits=HURRIED),
    *attacks(
        "timeout not_run",
        "time_all_of_it",
        others=frozenset({"timeout", "not_run"}),
        limits=Limits(seconds=0.6, total_seconds=1),
    ),
    # The text itself.
    *attacks("not_run error", " ".join(UNRUNNABLE), others=frozenset({"not_run", "error"})),
    *attacks("passed", " ".join(name for name in RUNNABLE if name != "source_huge")),
    *attacks("passed not_run", "source_huge", others=frozenset({"passed", "not_run"})),
)
