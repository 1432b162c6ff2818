from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils.translation import gettext_lazy as _

from accounts import inviting
from accounts.models import AuditEntry, Membership, Project, User
from accounts.scopes import Scope
from accounts.tokens import DEFAULT_DAYS, LONGEST_NAME, MOST_DAYS


class FirstAdministratorForm(UserCreationForm[User]):
    class Meta(UserCreationForm.Meta):
        model = User


class TokenForm(forms.Form):
    name = forms.CharField(label=_("What is it for?"), max_length=LONGEST_NAME)
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=MOST_DAYS, initial=DEFAULT_DAYS)
    scopes = forms.MultipleChoiceField(
        label=_("What may it be used for?"),
        choices=Scope.choices,
        initial=[Scope.READ, Scope.WRITE, Scope.SPEND],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one.")},
    )


class InvitationForm(forms.Form):
    """project: None lets an admin choose one, or none."""

    email = forms.EmailField(label=_("E-mail"), required=False)
    role = forms.ChoiceField(label=_("Role"))
    project = forms.ModelChoiceField(Project.objects.none(), label=_("Project"), required=False, empty_label=_("none"))
    project_role = forms.ChoiceField(
        label=_("Role in the project"), choices=Membership.Role.choices, initial=Membership.Role.MEMBER
    )

    def __init__(self, *args: Any, by: User, project: Project | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [(role.value, role.label) for role in inviting.roles_to_give(by)]
        self.fields["role"].choices = offered  # type: ignore[attr-defined]  # a choice field, which Django types as any field
        if project:
            del self.fields["project"]
        else:
            self.fields["project"].queryset = Project.objects.filter(archived=False)  # type: ignore[attr-defined]  # a model choice field, which Django types as any field
            self.fields["project_role"].required = False

    def clean_project_role(self) -> str:
        return self.cleaned_data["project_role"] or Membership.Role.MEMBER


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=User.Role.choices)


class ProjectForm(forms.ModelForm[Project]):
    class Meta:
        model = Project
        fields = ["name", "description"]
        error_messages = {"name": {"unique": _("There is a project of this name already. Choose another one.")}}


class MemberForm(forms.Form):
    username = forms.CharField(label=_("Name"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=Membership.Role.choices, initial=Membership.Role.MEMBER)

    def clean_username(self) -> User:
        """The person of that name. Names are no secret among people of the lab."""
        found = User.objects.filter(username=self.cleaned_data["username"].strip(), is_active=True).first()
        if found is None:
            raise forms.ValidationError(_("Nobody of this name is in the lab. Invite them below, or check the name."))
        return found


class AuditForm(forms.Form):
    """What of the audit record is looked for; everything may be left out."""

    person = forms.CharField(label=_("Person"), required=False, max_length=150)
    deed = forms.ChoiceField(label=_("Action"), required=False, choices=[("", _("any")), *AuditEntry.Action.choices])
    target = forms.CharField(label=_("Target"), required=False, max_length=200)
    since = forms.DateField(label=_("From (UTC)"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("To (UTC)"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    before = forms.IntegerField(required=False, min_value=1)
