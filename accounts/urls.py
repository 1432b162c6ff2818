"""People: signing in, their account, who is in the lab, projects, the audit log. Names that begin with `account_`,
`mfa_`, `socialaccount_` and `openid_connect_` are those by which django-allauth looks for its pages.
"""

from collections.abc import Iterable

from allauth.account import views as account
from allauth.mfa import urls as mfa
from allauth.socialaccount import views as socialaccount
from django.db import transaction
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.http import require_POST

from accounts import audit_views, oidc, people_views, pickers, project_views, views


def _atomic(patterns: Iterable[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    """The same addresses, each of whose views is one transaction: what a view has done, and what a receiver of its
    signal records of that, are committed together.
    """
    found: list[URLPattern | URLResolver] = []
    for one in patterns:
        if isinstance(one, URLResolver):
            inner = _atomic(one.url_patterns)
            found.append(URLResolver(one.pattern, inner, one.default_kwargs, one.app_name, one.namespace))
        else:
            found.append(URLPattern(one.pattern, transaction.atomic(one.callback), one.default_args, one.name))
    return found


sign_out = require_POST(account.logout)

urlpatterns = [
    path("sign-in/", account.login, name="login"),
    path("sign-in/", account.login, name="account_login"),
    path("sign-in/inactive/", account.account_inactive, name="account_inactive"),
    path("sign-out/", sign_out, name="logout"),
    path("sign-out/", sign_out, name="account_logout"),
    path("sign-up/", account.signup, name="account_signup"),
    path("first-administrator/<str:token>/", views.first_administrator, name="first-administrator"),
    path("forgotten/", views.forgotten_password, name="account_reset_password"),
    path("forgotten/sent/", account.password_reset_done, name="account_reset_password_done"),
    path("forgotten/changed/", account.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    re_path(
        r"^forgotten/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$",
        account.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("oidc/<slug:provider_id>/login/", oidc.sign_in, name="openid_connect_login"),
    path("oidc/<slug:provider_id>/login/callback/", oidc.come_back, name="openid_connect_callback"),
    path("account/", views.account, name="account"),
    path("account/confirm/", account.reauthenticate, name="account_reauthenticate"),
    path("account/password/", account.password_change, name="account_change_password"),
    path("account/password/set/", account.password_set, name="account_set_password"),
    path("account/email/", account.email, name="account_email"),
    path("account/email/sent/", account.email_verification_sent, name="account_email_verification_sent"),
    re_path(r"^account/email/(?P<key>[-:\w]+)/$", account.confirm_email, name="account_confirm_email"),
    path("account/second-factor/", include(_atomic(mfa.urlpatterns))),
    path("account/server/", socialaccount.connections, name="socialaccount_connections"),
    path("account/server/cancelled/", socialaccount.login_cancelled, name="socialaccount_login_cancelled"),
    path("account/server/error/", socialaccount.login_error, name="socialaccount_login_error"),
    path("account/server/sign-up/", socialaccount.signup, name="socialaccount_signup"),
    path("account/sign-ins/end/", views.sign_out_elsewhere, name="sign-out-elsewhere"),
    path("account/sign-ins/<int:pk>/end/", views.sign_out_one, name="sign-out-one"),
    path("account/tokens/<str:token_key>/revoke/", views.revoke_token, name="token-revoke"),
    path("language/", views.set_language, name="set-language"),
    path("theme/", views.set_theme, name="set-theme"),
    path("invitations/<int:pk>/revoke/", people_views.revoke_invitation, name="invitation-revoke"),
    path("invitations/<str:token>/", people_views.invitation, name="invitation"),
    path("people/", people_views.people, name="people"),
    path("people/<int:pk>/", people_views.one, name="person"),
    path("people/<int:pk>/role/", people_views.ChangeRole.as_view(), name="person-role"),
    path("people/<int:pk>/deactivate/", people_views.Deactivate.as_view(), name="person-deactivate"),
    path("people/<int:pk>/reactivate/", people_views.Reactivate.as_view(), name="person-reactivate"),
    path("people/<int:pk>/factors/", people_views.RemoveFactors.as_view(), name="person-factors"),
    path("find/people/", pickers.FindPeople.as_view(), name="find-people"),
    path("find/projects/", pickers.FindProjects.as_view(), name="find-projects"),
    path("projects/", project_views.ProjectList.as_view(), name="projects"),
    path("projects/new/", project_views.ProjectCreate.as_view(), name="project-new"),
    path("projects/<uuid:pk>/", project_views.project, name="project"),
    path("projects/<uuid:pk>/change/", project_views.change, name="project-change"),
    path("projects/<uuid:pk>/archive/", project_views.archive, name="project-archive"),
    path("projects/<uuid:pk>/members/", project_views.add_member, name="project-members"),
    path("projects/<uuid:pk>/members/<int:user_pk>/", project_views.change_member, name="project-member"),
    path("projects/<uuid:pk>/invite/", project_views.invite, name="project-invite"),
    path("audit/", audit_views.record, name="audit"),
    path("audit/audit.csv", audit_views.table, name="audit-table"),
]
