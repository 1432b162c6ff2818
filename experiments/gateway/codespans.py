"""Where Markdown code begins and ends in a growing text, so that a tag quoted in code can be told from a real one."""

import re

_PARTS = re.compile(r"\n|`+|~+|[^\n`~]+")


class CodeSpans:
    """Follows text that arrives in pieces; `inside` says whether the next character stands in code.

    Fenced blocks (``` or ~~~ at a line's start) and inline code. Inline code ends with its line at the latest, so that
    one stray backtick cannot hide what comes later.
    """

    def __init__(self) -> None:
        self._fence = ""
        self._fence_line = False
        self._inline = 0
        self._run = ""
        self._run_leads = False
        self._blank = True
        self._may_close = False

    @property
    def inside(self) -> bool:
        """Ask only when the next character is neither a backtick nor a tilde: the run before it counts as ended."""
        self._end_run()
        return bool(self._fence) or self._inline > 0

    def feed(self, text: str) -> None:
        for part in _PARTS.findall(text):
            if part[0] == "\n":
                self._newline()
            elif part[0] in "`~":
                self._extend_run(part)
            else:
                self._plain(part)

    def _newline(self) -> None:
        self._end_run()
        if self._may_close:
            self._fence = ""
        self._inline = 0
        self._blank = True
        self._fence_line = self._may_close = False

    def _plain(self, text: str) -> None:
        self._end_run()
        if not text.isspace():
            self._blank = self._may_close = False

    def _extend_run(self, part: str) -> None:
        if not self._run.startswith(part[0]):
            self._end_run()
            self._run_leads = self._blank
        # A fence longer than 99 does not exist; the cap keeps a megabyte of backticks in small pieces linear.
        self._run = (self._run + part)[:99]
        self._blank = False

    def _end_run(self) -> None:
        run, self._run = self._run, ""
        if not run:
            return
        if self._fence and self._fence_line:
            if run[0] == self._fence[0] == "`":
                self._fence = ""  # ```like this``` on one line is inline code
        elif self._fence:
            self._may_close = self._run_leads and run.startswith(self._fence)
        elif self._run_leads and len(run) >= 3 and not self._inline:
            self._fence, self._fence_line = run, True
        elif run[0] == "`":
            self._toggle_inline(len(run))

    def _toggle_inline(self, length: int) -> None:
        if not self._inline:
            self._inline = length
        elif self._inline == length:
            self._inline = 0
