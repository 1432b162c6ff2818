"""What a program may use up."""

from dataclasses import dataclass, fields

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """Raises ValueError when one of them is not above zero.

    `memory` is for what the program itself asks for, on top of what the bare interpreter needs. `output` counts what it
    prints on both channels together; `result` the text of the value it answers with. `processes` are threads: a program
    can start no process at all.
    """

    seconds: float = 5.0  # of the clock and of the processor, for each test
    total_seconds: float = 120.0  # of the clock, for all tests together
    memory: int = 256 * MIB  # bytes
    output: int = MIB  # bytes
    result: int = MIB  # bytes
    file_size: int = 4 * MIB  # bytes of one file
    disk: int = 16 * MIB  # bytes of all files together
    entries: int = 4_000  # files and folders, empty ones too: the kernel's memory is finite
    files: int = 64  # open at once
    processes: int = 32
    stack: int = 64 * MIB  # bytes of the main thread's stack
    depth: int = 200  # lists in lists of the value
    items: int = 200_000  # things in the value, those in its lists and objects included

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"{field.name} must be above zero")

    def for_box(self) -> dict[str, int | float]:
        """The limits as they travel to the box."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
