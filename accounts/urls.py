from django.contrib.auth import views as auth
from django.urls import path

from accounts import views
from accounts.signin import SignInView

urlpatterns = [
    path("sign-in/", SignInView.as_view(), name="login"),
    path("sign-out/", auth.LogoutView.as_view(), name="logout"),
    path("account/", views.account, name="account"),
    path("account/tokens/<str:token_key>/revoke/", views.revoke_token, name="token-revoke"),
    path("language/", views.set_language, name="set-language"),
    path("theme/", views.set_theme, name="set-theme"),
]
