"""Letters by e-mail, where the lab has a mail server."""

import logging

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from accounts.models import Invitation

log = logging.getLogger(__name__)


def send_invitation(invitation: Invitation, link: str) -> bool:
    """Whether it was handed to the mail server. Not within a transaction: that may take seconds."""
    if not (settings.HAS_MAIL and invitation.email):
        return False
    words = render_to_string("accounts/invitation_letter.txt", {"invitation": invitation, "link": link})
    try:
        send_mail(_("You are invited to Arena Lab"), words, None, [invitation.email])
    except OSError as error:  # smtplib's errors are such
        log.warning("An invitation could not be mailed: %s", type(error).__name__)
        return False
    return True
