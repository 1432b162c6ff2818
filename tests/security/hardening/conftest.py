from tests.accounts.conftest import (  # noqa: F401 - people of the lab, and browsers in which they have signed in
    admin,
    admins,
    bob,
    browser,
    entries_of,
    nothing_counted,
    visitor,
)
