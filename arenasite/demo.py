"""The people of the demonstration, whose password is published."""

from django.contrib.auth.hashers import make_password

from accounts.models import User

PASSWORD = "arena-demo-only"  # noqa: S105 - published: it opens nothing outside the demonstration
MAIL_DOMAIN = "demo.invalid"  # marks a person as the demonstration's; nobody real can have such an address
PEOPLE = (User.Role.RESEARCHER, User.Role.REVIEWER, User.Role.ADMIN)
SIGN_INS = f"{', '.join(PEOPLE[:-1])} or {PEOPLE[-1]}, password {PASSWORD}"


class NameTaken(Exception):
    """A real person has the user name of a demo person."""


def prepare_people(*, force: bool = False) -> None:
    """Everybody of the demonstration exists, is active and has the published password. Raises NameTaken.

    All get one hash, since hashing takes a third of a second. As long as the hashes are equal nobody has changed his
    password, for a changed one has a salt of its own. force: hash again all the same.
    """
    known = {user.username: user for user in User.objects.filter(username__in=PEOPLE)}
    for user in known.values():
        if not user.email.endswith(f"@{MAIL_DOMAIN}"):
            raise NameTaken(
                f"A person called {user.username} exists on this platform and is not part of the demonstration. Use an "
                "empty data directory for the demonstration."
            )
    hashes = {user.password for user in known.values()}
    is_untouched = len(known) == len(PEOPLE) and len(hashes) == 1 and not force
    password = hashes.pop() if is_untouched else make_password(PASSWORD)
    for role in PEOPLE:
        is_admin = role == User.Role.ADMIN
        fields = {
            "role": role,
            "email": f"{role}@{MAIL_DOMAIN}",
            "password": password,
            "is_active": True,
            "is_staff": is_admin,
            "is_superuser": is_admin,
        }
        User.objects.update_or_create(username=role.value, defaults=fields)


def retire_people() -> int:
    """Nobody can sign in with a published password. Returns how many could."""
    return User.objects.filter(email__endswith=f"@{MAIL_DOMAIN}", is_active=True).update(is_active=False)
