"""The addresses of the API of people."""

from django.urls import path

from accounts.api import people, projects, record, tokens

urlpatterns = [
    path("tokens/", tokens.TokensView.as_view(), name="api-tokens"),
    path("tokens/<str:token_key>/", tokens.TokenView.as_view(), name="api-token"),
    path("people/", people.PeopleView.as_view(), name="api-people"),
    path("people/<int:pk>/", people.PersonView.as_view(), name="api-person"),
    path("people/<int:pk>/deactivate/", people.DeactivateView.as_view(), name="api-person-deactivate"),
    path("people/<int:pk>/reactivate/", people.ReactivateView.as_view(), name="api-person-reactivate"),
    path("people/<int:pk>/factors/remove/", people.RemoveFactorsView.as_view(), name="api-person-factors"),
    path("invitations/", people.InvitationsView.as_view(), name="api-invitations"),
    path("invitations/<int:pk>/", people.InvitationView.as_view(), name="api-invitation"),
    path("projects/", projects.ProjectsView.as_view(), name="api-projects"),
    path("projects/<uuid:pk>/", projects.ProjectView.as_view(), name="api-project"),
    path("projects/<uuid:pk>/members/", projects.MembersView.as_view(), name="api-project-members"),
    path("projects/<uuid:pk>/members/<int:user_pk>/", projects.MemberView.as_view(), name="api-project-member"),
    path("audit/", record.AuditView.as_view(), name="api-audit"),
]
