"""The addresses as GenArena's viewer knows them."""

from django.urls import path

from leaderboard.compatibility import views

OF_SUBSET = "subsets/<slug:subset>/"
OF_EXPERIMENT = f"{OF_SUBSET}experiments/<str:exp_name>/"
OF_SAMPLE = f"{OF_EXPERIMENT}samples/<int:sample_index>/"

urlpatterns = [
    path("subsets", views.SubsetsView.as_view(), name="compat-subsets"),
    path(f"{OF_SUBSET}info", views.InfoView.as_view(), name="compat-subset"),
    path(f"{OF_SUBSET}stats", views.StatsView.as_view(), name="compat-subset-stats"),
    path(f"{OF_SUBSET}leaderboard", views.LeaderboardView.as_view(), name="compat-subset-leaderboard"),
    path(f"{OF_SUBSET}leaderboard/by-source", views.BySourceView.as_view(), name="compat-subset-by-source"),
    path(f"{OF_SUBSET}models/<path:model>/stats", views.ModelStatsView.as_view(), name="compat-subset-model"),
    path(f"{OF_SUBSET}matrix", views.MatrixView.as_view(), name="compat-subset-matrix"),
    path(f"{OF_SUBSET}elo-history", views.HistoryView.as_view(), name="compat-subset-history"),
    path(
        f"{OF_SUBSET}samples/<int:sample_index>/input_count", views.InputCountView.as_view(), name="compat-input-count"
    ),
    path(f"{OF_EXPERIMENT}battles", views.BattlesView.as_view(), name="compat-battles"),
    path(f"{OF_EXPERIMENT}battles/<path:battle_id>", views.BattleView.as_view(), name="compat-battle"),
    path(f"{OF_EXPERIMENT}h2h", views.HeadToHeadView.as_view(), name="compat-h2h"),
    path(f"{OF_EXPERIMENT}prompts", views.PromptsView.as_view(), name="compat-prompts"),
    path(f"{OF_EXPERIMENT}search", views.SearchView.as_view(), name="compat-search"),
    path(f"{OF_EXPERIMENT}search/prompts", views.SearchPromptsView.as_view(), name="compat-search-prompts"),
    path(f"{OF_SAMPLE}all_models", views.AllModelsView.as_view(), name="compat-all-models"),
    path(f"{OF_SAMPLE}models/<path:model>/battles", views.ModelOnSampleView.as_view(), name="compat-model-battles"),
    path("overview/leaderboards", views.OverviewView.as_view(), name="compat-overview"),
    path("cross-subset/info", views.CrossInfoView.as_view(), name="compat-cross-info"),
    path("cross-subset/elo", views.CrossEloView.as_view(), name="compat-cross-elo"),
]
