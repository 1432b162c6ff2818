"""The programs that the acceptance list of coding contests asks for (docs/coding.md), by their numbers there.

They are run by `test_attacks.py` and `test_honest_programs.py`, each with its own verdict; here it is only seen to
that none of them goes missing.
"""

import pytest

from tests.experiments.sandbox.attack_list import ATTACKS
from tests.experiments.sandbox.honest_list import CORRECT, WRONG

PROGRAMS = {
    18: "process_fork_bomb",
    19: "process_thread_bomb",
    20: "memory_at_once",
    21: "recursion_deep",
    22: "output_stdout output_stderr",
    23: "time_sleep",
    24: "time_busy",
    25: "exit_os exit_sys exit_raised exit_aborted exit_crashed",
    26: "process_ignores_signals",
    27: "process_daemon",
    28: "process_leaves_group",
    29: "files_passwd files_environ_of_all files_own_source files_open_descriptors files_parent_folders",
    30: "files_write_outside",
    31: "files_fill_disk",
    32: "files_symlink_read files_symlink_write",
    33: "net_tcp net_udp net_dns net_unix",
    34: "secrets_environment",
    35: "forged_all_passed",
    36: "channel_forged",
    37: "patched_json patched_output patched_builtins patched_inspect",
    38: "equal_always",
    39: "value_generator value_no_number value_set value_bytes value_long_number value_cyclic two_sum__tuple",
    40: "hunted_frames hunted_objects hunted_input",
    41: "input_at_end",
    42: "text_not_unicode",
    43: "text_surrogate source_surrogate",
    44: "text_null source_null",
    45: "source_parentheses",
    46: "source_syntax_error",
    47: "source_tab_mix",
    48: "source_future_late",
    49: "two_sum__class_solution",
    50: "two_sum__helpers_last",
    51: "stairs__lru_cache",
    52: "average__async",
    53: "is_balanced__print_noise",
    54: "two_sum__mutates_its_argument value_arguments_changed",
    55: "total__rounding_noise",
    56: "negate__minus_zero",
    57: "two_sum__text_of_a_list",
}
LISTED = {program.name: program for program in (*ATTACKS, *CORRECT, *WRONG)}


@pytest.mark.parametrize("number", PROGRAMS)
def test_every_program_of_the_list_is_run(number: int) -> None:
    assert [name for name in PROGRAMS[number].split() if name not in LISTED] == []
