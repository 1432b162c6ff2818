from accounts.models.audit import AuditEntry
from accounts.models.first_admin import FirstAdminLink
from accounts.models.invitation import Invitation
from accounts.models.person import ApiToken, User
from accounts.models.project import Membership, Project

__all__ = ["ApiToken", "AuditEntry", "FirstAdminLink", "Invitation", "Membership", "Project", "User"]
