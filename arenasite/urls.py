from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.i18n import JavaScriptCatalog

from arenasite import documentation, home, notifications, palette, probes
from arenasite.problems import page_not_found, server_error, too_many_requests

# By the one door, where a second factor holds.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth documents it: the admin signs in like everybody

urlpatterns = [
    path(probes.ALIVE[1:], probes.alive, name="healthz"),
    path(probes.READY[1:], probes.ready, name="readyz"),
    path("", home.home, name="home"),
    path("now/", home.now, name="home-now"),
    path("notifications/", notifications.show, name="notifications"),
    path("notifications/menu/", notifications.menu, name="notifications-menu"),
    path("notifications/read/", notifications.read, name="notifications-read"),
    path("palette/", palette.palette, name="palette"),
    path("help/", documentation.show, name="documentation"),
    path("help/<slug:name>/", documentation.show, name="documentation-page"),
    path("", include("experiments.urls")),
    path("", include("accounts.urls")),
    path("", include("leaderboard.urls")),
    path("api/", include("accounts.api")),
    path("api/", include("experiments.api_urls")),
    path("api/", include("leaderboard.api_urls")),
    path("api/", include("experiments.api.compatibility.urls")),
    path("api/", include("leaderboard.compatibility.urls")),
    path("admin/", admin.site.urls),
    path("words.js", JavaScriptCatalog.as_view(packages=["arenasite"]), name="javascript-catalog"),
]

handler429 = too_many_requests
handler404 = page_not_found
handler500 = server_error
