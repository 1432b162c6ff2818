from tests.accounts.conftest import (  # noqa: F401 - people of the lab, and browsers in which they have signed in
    admin,
    admins,
    bob,
    browser,
    deeds,
    nothing_counted,
    quick_passwords,
    visitor,
)
