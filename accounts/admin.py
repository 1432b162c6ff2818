from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.utils.translation import gettext_lazy as _

from accounts.models import User


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    list_display = ["username", "role", "email", "is_active", "is_staff", "last_login"]
    list_filter = ["role", "is_active", "is_staff"]
    fieldsets = [*(UserAdmin.fieldsets or []), (_("In the lab"), {"fields": ["role", "language"]})]
