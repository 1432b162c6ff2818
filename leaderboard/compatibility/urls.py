"""The addresses as GenArena's viewer knows them."""

from django.urls import path

from leaderboard.compatibility import views

OF_SUBSET = "subsets/<slug:subset>/"
OF_EXPERIMENT = f"{OF_SUBSET}experiments/<str:exp_name>/"
OF_SAMPLE = f"{OF_EXPERIMENT}samples/<int:sample_index>/"

urlpatterns = [
    path("subsets", views.subsets.as_view(), name="compat-subsets"),
    path(f"{OF_SUBSET}info", views.info.as_view(), name="compat-subset"),
    path(f"{OF_SUBSET}stats", views.stats.as_view(), name="compat-subset-stats"),
    path(f"{OF_SUBSET}leaderboard", views.leaderboard.as_view(), name="compat-subset-leaderboard"),
    path(f"{OF_SUBSET}leaderboard/by-source", views.by_source.as_view(), name="compat-subset-by-source"),
    path(f"{OF_SUBSET}models/<path:model>/stats", views.model_stats.as_view(), name="compat-subset-model"),
    path(f"{OF_SUBSET}matrix", views.matrix.as_view(), name="compat-subset-matrix"),
    path(f"{OF_SUBSET}elo-history", views.history.as_view(), name="compat-subset-history"),
    path(f"{OF_SUBSET}samples/<int:sample_index>/input_count", views.input_count.as_view(), name="compat-input-count"),
    path(f"{OF_EXPERIMENT}battles", views.battle_list.as_view(), name="compat-battles"),
    path(f"{OF_EXPERIMENT}battles/<path:battle_id>", views.battle.as_view(), name="compat-battle"),
    path(f"{OF_EXPERIMENT}h2h", views.head_to_head.as_view(), name="compat-h2h"),
    path(f"{OF_EXPERIMENT}prompts", views.prompts.as_view(), name="compat-prompts"),
    path(f"{OF_EXPERIMENT}search", views.search.as_view(), name="compat-search"),
    path(f"{OF_EXPERIMENT}search/prompts", views.search_prompts.as_view(), name="compat-search-prompts"),
    path(f"{OF_SAMPLE}all_models", views.all_models.as_view(), name="compat-all-models"),
    path(f"{OF_SAMPLE}models/<path:model>/battles", views.model_battles.as_view(), name="compat-model-battles"),
    path("overview/leaderboards", views.overview.as_view(), name="compat-overview"),
    path("cross-subset/info", views.cross_info.as_view(), name="compat-cross-info"),
    path("cross-subset/elo", views.cross_elo.as_view(), name="compat-cross-elo"),
]
