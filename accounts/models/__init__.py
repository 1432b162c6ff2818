from accounts.models.audit import AuditEntry
from accounts.models.invitation import Invitation
from accounts.models.machine import CommonMark
from accounts.models.person import ApiToken, User
from accounts.models.project import Membership, Project

__all__ = ["ApiToken", "AuditEntry", "CommonMark", "Invitation", "Membership", "Project", "User"]
