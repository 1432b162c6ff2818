"""Who is answered where. Each address of the platform stands under exactly one rule, or the matrix fails."""

from collections.abc import Mapping
from typing import Any

from tests.experiments.rights.people import EVERYBODY, INSIDE

YES, UNKNOWN, REFUSED, SIGN_IN, TOLD = "yes", "unknown", "refused", "sign in", "told"  # see test_matrix.meaning
NO = (REFUSED, TOLD)  # told that it is not theirs, or what was wrong before that came up: nothing has moved
Rule = Mapping[str, frozenset[str]]
STEERING = ("member", "lead", "owner")


def rule(*, visitor: Any, everybody: Any = UNKNOWN, **said: Any) -> Rule:
    """Of each person what they may be answered: one answer, or several. everybody: who is not named."""
    answers = {who: said.get(who, everybody) for who in EVERYBODY} | {"visitor": visitor}
    return {who: frozenset((answer,) if isinstance(answer, str) else answer) for who, answer in answers.items()}


def _all(people: tuple[str, ...], answer: Any, **but: Any) -> dict[str, Any]:
    return dict.fromkeys(people, answer) | but


RULES: dict[str, tuple[Rule, str]] = {
    "open": (
        rule(visitor=YES, everybody=YES),
        """home documentation documentation-page javascript-catalog login account_login set-language set-theme
        leaderboard methodology datasets api-health healthz readyz compat-health compat-subsets compat-overview
        compat-cross-info compat-cross-elo api-schema api-docs api-ladders shared shared-run public-arena-data""",
    ),
    "whoever signs in": (
        rule(visitor=SIGN_IN, everybody=YES, reviewer=(YES, REFUSED)),
        """account runs runs-chosen runs-columns runs-chart api-runs-chart view-new favorite api-favorites known-tags
        api-tags api-views api-run-compare arena arena-estimate starchamber council council-estimate council-presets
        debate debate-estimate battles battles-estimate battles-import-new coding coding-estimate scenarios scenario-new
        presets run-import dataset-new my-votes votes my-keys my-webhooks models model-menu api-votes api-estimate usage
        usage-csv projects project-new review review-queue-new review-rubrics review-rubric-new instruments
        instrument-new instrument-import instrument-preview find-runs find-instruments find-instruments-without-order
        scan scan-estimate api-instruments api-annotations review-rubric api-review-queues api-key-list api-webhook-list
        api-budgets api-usage search api-search api-models api-workflows api-seats api-experiment-list api-run-list
        api-dataset-list api-battles api-scenarios api-presets api-run-import api-study-list studies home-now
        notifications notifications-menu notifications-read palette compat-models compat-start compat-stop compat-status
        compat-turn compat-manual-continue compat-next-turn compat-starchamber-start compat-starchamber-turn
        compat-starchamber-stop compat-conversations find-people find-projects find-experiments api-study-import-batch
        study-new study-import study-design-new study-estimate compat-llm-models compat-llm-test starchamber-estimate
        api-token-list api-project-list api-review-rubrics api-review-rubric api-council-presets bulk-exports
        api-bulk-exports api-run-imports""",
    ),
    "invitations: one's own are seen, and made by who may": (
        rule(visitor=SIGN_IN, everybody=(YES, REFUSED), admin=YES),
        "api-invitation-list",
    ),
    "to look at": (
        rule(visitor=SIGN_IN, **_all(INSIDE, YES)),
        """run run-status run-news run-notes message-note api-run-notes experiment-clone api-experiment-clone run-report
        run-export run-compare call message-tokens message-text run-ranking coding-cycle coding-ratings run-artifacts
        talk-figures experiment experiment-values experiment-sharing campaign-live api-messages api-judgments
        api-ballots api-ranking api-calls api-events api-lineage api-cycles api-cycle api-executions api-run-battles
        api-run-artifacts api-run-report api-run-export api-statistics api-campaign run-files api-run-files study
        study-sizes study-runs api-study-estimate api-study-sizes api-study-runs api-study-looks""",
    ),
    "to look at, renamed by who steers, deleted by the owner": (
        rule(visitor=SIGN_IN, **_all(INSIDE, (YES, *NO))),
        "api-run-detail api-experiment-detail api-study-detail",
    ),
    "to steer": (
        rule(visitor=SIGN_IN, watcher=NO, **_all(STEERING, YES)),
        """run-rename experiment-rename api-run-archive api-run-restore api-experiment-archive api-experiment-restore
        run-tags experiment-tags run-stop run-resume run-say run-pause run-mode run-extend run-ask run-draft run-lift
        experiment-start campaign-stop campaign-resume api-run-stop api-run-resume api-run-say api-run-pause
        api-run-mode api-run-extend api-run-ask api-run-draft api-run-lift api-experiment-start api-campaign-stop
        api-campaign-resume api-branch api-run-judge""",
    ),
    "to steer, once it has come so far": (
        rule(visitor=SIGN_IN, watcher=NO, **_all(STEERING, (YES, TOLD))),
        """api-study-lock api-study-amend api-study-start api-study-pause api-study-resume api-study-stop
        api-study-repeats api-study-look study-act study-design study-plan study-repeats""",
    ),
    "a form for who steers": (  # whoever may look may open it, and sees at the sending that it is not theirs
        rule(visitor=SIGN_IN, watcher=(YES, *NO), **_all(STEERING, YES)),
        "message-branch run-judge api-run-tags",
    ),
    "links: seen by who steers, made by the owner": (
        rule(visitor=SIGN_IN, **_all(INSIDE, (YES, *NO), owner=YES)),
        "api-experiment-links",
    ),
    "the owner's to decide": (
        rule(visitor=SIGN_IN, **_all(INSIDE, NO, owner=YES)),
        "experiment-share link-create api-experiment-share",
    ),
    "who may change it": (rule(visitor=SIGN_IN, **_all(STEERING, YES)), "link-revoke api-link"),
    "voided by its owner or who curates": (
        rule(visitor=SIGN_IN, **_all(INSIDE, NO, owner=(YES, REFUSED)), admin=YES, curator=(YES, UNKNOWN)),
        "api-cycle-void api-cycle-restore",
    ),
    "nobody else's": (
        rule(visitor=SIGN_IN, owner=YES),
        """instrument instrument-edit instrument-archive instrument-file instrument-changes instrument-try
        instrument-tried instrument-ask instrument-case-keep instrument-case-delete instrument-cases-run instrument-card
        api-instrument-card api-cases api-cases-run api-case api-instrument api-instrument-versions
        api-instrument-export api-instrument-archive note note-delete view view-delete api-note api-view api-favorite
        file file-download api-file api-file-download token-revoke dataset-upload preset-edit preset-share preset-delete
        council-preset-delete scenario scenario-edit scenario-share scenario-archive scenario-changes scenario-copy
        preset-copy api-scenario api-scenario-versions api-scenario-share api-scenario-archive api-scenario-copy
        api-preset api-dataset-uploads api-dataset-outputs api-dataset-battles api-dataset-voters api-vote-offer
        battles-import dataset-voters outputs-make-estimate dataset-outputs dataset-visibility dataset-delete
        outputs-make battle-void contestant-change variant-edit scenario-demonstration api-demonstration webhook
        webhook-rotate webhook-test webhook-switch webhook-remove delivery-again api-webhook-detail api-webhook-secret
        api-webhook-test api-webhook-deliveries api-delivery-detail api-delivery-again api-dataset-visibility
        api-contestant api-battle api-council-preset api-token-detail api-variant bulk-export bulk-export-download
        bulk-export-manifest bulk-export-cancel api-bulk-export api-bulk-export-download run-import-file
        run-import-store run-import-cancel api-run-import-file api-run-import-store""",
    ),
    "its owner's, who deletes it while no battles stand on it": (
        rule(visitor=SIGN_IN, owner=(YES, REFUSED)),
        "api-dataset-detail",
    ),
    "a client's own": (rule(visitor=SIGN_IN, owner=YES), "compat-conversation compat-message compat-stream"),
    "a project's leads alone": (rule(visitor=SIGN_IN, lead=YES), "project-webhooks"),
    "signing out": (rule(visitor=(YES, SIGN_IN), everybody=(YES, SIGN_IN)), "logout account_logout"),
    "doors": (
        rule(visitor=(YES, *NO, UNKNOWN, SIGN_IN), everybody=(YES, *NO, UNKNOWN, SIGN_IN)),
        """account_inactive account_signup account_reset_password account_reset_password_done
        account_reset_password_from_key_done account_reset_password_from_key openid_connect_login
        openid_connect_callback account_email_verification_sent account_confirm_email mfa_authenticate
        socialaccount_login_cancelled socialaccount_login_error socialaccount_signup invitation first-administrator""",
    ),
    "one's own affairs": (
        rule(visitor=SIGN_IN, everybody=(YES, *NO, UNKNOWN)),
        """account_reauthenticate account_change_password account_set_password account_email mfa_index
        mfa_reauthenticate mfa_activate_totp mfa_deactivate_totp mfa_view_recovery_codes mfa_generate_recovery_codes
        mfa_download_recovery_codes mfa_list_webauthn mfa_add_webauthn mfa_reauthenticate_webauthn mfa_remove_webauthn
        mfa_edit_webauthn socialaccount_connections sign-out-elsewhere sign-out-one review-rubric-edit""",
    ),
    "curators'": (rule(visitor=SIGN_IN, curator=YES, admin=YES), "review-desk api-review-desk review-arena"),
    "read by administrators alone, as nobody has submitted it": (
        rule(visitor=SIGN_IN, admin=(YES, UNKNOWN)),  # to decide about it is not theirs, too
        "review-desk-run api-review-desk-run",
    ),
    "administrators'": (
        rule(visitor=SIGN_IN, everybody=(UNKNOWN, REFUSED), admin=YES),
        """people person person-role person-deactivate person-reactivate person-factors audit audit-table lab-keys
        budgets operator operator-now api-operator api-audit-list api-person-list api-person-detail
        api-person-deactivate api-person-reactivate api-person-factors providers provider-new provider-new-test provider
        provider-test provider-sync provider-enable provider-delete model-new model model-try model-defaults
        public-arena-settings start start-provider start-models start-run api-provider-list api-provider-detail
        api-provider-test api-provider-sync""",
    ),
    "of who sits in it": (rule(visitor=UNKNOWN, owner=YES, admin=YES), "seat seat-now"),
    "of who sits in it, by a program": (rule(visitor=SIGN_IN, owner=YES, admin=YES), "api-seat"),
    "the invitation of who may change the experiment; here a user sits": (
        rule(visitor=SIGN_IN, **_all(STEERING, TOLD)),
        "seat-revoke api-seat-revoke",
    ),
    "an invitation that is none": (rule(visitor=UNKNOWN), "seat-join"),
    "administrators', and without a word to others": (rule(visitor=UNKNOWN, admin=YES), "metrics"),
    "project": (rule(visitor=SIGN_IN, **_all(INSIDE, YES), admin=YES), "project project-budgets"),
    "a project's, changed by its leads": (
        rule(visitor=SIGN_IN, **_all(INSIDE, (YES, *NO), lead=YES), admin=YES),
        "api-project-detail api-project-member-list api-project-member-detail",
    ),
    "a project's leads to decide": (
        rule(visitor=SIGN_IN, **_all(INSIDE, (*NO, UNKNOWN), lead=YES), admin=YES),
        """project-change project-archive project-members project-member project-invite invitation-revoke
        api-invitation-detail""",
    ),
    "a key's owner's": (
        rule(visitor=SIGN_IN, owner=YES, admin=(YES, *NO, UNKNOWN)),
        "key-replace key-test key-remove api-key-detail api-key-test",
    ),
    "a budget's": (  # seen by whoever may spend it, set by its owner, the project's leads and administrators
        rule(visitor=SIGN_IN, **_all(INSIDE, (YES, *NO, UNKNOWN)), admin=(YES, *NO, UNKNOWN)),
        "experiment-budget budget-remove api-budget",
    ),
    "a queue's people's": (
        rule(visitor=SIGN_IN, owner=(YES, *NO), reviewer=(YES, *NO)),
        """review-queue review-next review-undo review-item review-claim review-release review-draft review-skip
        review-reveal review-agreement review-agreement-csv api-review-queue api-review-items api-review-next
        api-review-undo api-review-agreement api-review-item api-review-claim api-review-release api-review-answer
        api-review-skip api-review-answers api-review-reveal""",
    ),
    "a queue's maker's": (
        rule(visitor=SIGN_IN, owner=YES, reviewer=(REFUSED, UNKNOWN)),
        "review-queue-change review-queue-fill review-queue-state api-review-queue-change api-review-queue-fill",
    ),
    "of a scan that one may look at": (rule(visitor=SIGN_IN, **_all(INSIDE, (YES, *NO))), "review-sample"),
    "of a run that one may look at": (
        rule(visitor=SIGN_IN, **_all(INSIDE, (YES, *NO, UNKNOWN))),  # unknown: the message that was not named
        "run-flags api-run-flags run-curation api-run-curation api-study-folder study-folder",
    ),
    "who curates, and without a word to others": (
        rule(visitor=(SIGN_IN, UNKNOWN), curator=YES, admin=YES),
        "ladder-cycles",
    ),
    "nothing of the kind is there": (
        rule(visitor=(SIGN_IN, UNKNOWN)),
        """api-log-import log-import api-log-import-store log-import-store dataset-image vote-picture api-vote
        compat-starchamber-status compat-subset-model ladder-embed scan-live""",
    ),
    "closed until an administrator opens it, and then each visitor's own": (
        rule(visitor=UNKNOWN),
        "public-arena public-arena-battle public-arena-news",
    ),
    "told what to ask for": (
        rule(visitor=SIGN_IN, everybody=TOLD),
        "compare-chosen runs-delete api-review-samples study-compare api-study-compare api-study-campaigns",
    ),
    "nobody else's, on pages that visitors read": (
        rule(visitor=(UNKNOWN, SIGN_IN), owner=YES),
        """dataset dataset-sample dataset-contestants dataset-export api-dataset-export dataset-variants
        api-dataset-variants ladder ladder-matrix ladder-slices ladder-picture ladder-history ladder-milestones
        ladder-download ladder-battles ladder-samples ladder-sample ladder-agreement board-export battle vote vote-cast
        api-ladder api-ladder-milestones api-ladder-history api-ladder-agreement api-ladder-matrix api-ladder-slices
        api-dataset-samples api-board-export compat-subset compat-subset-stats compat-subset-leaderboard
        compat-subset-by-source compat-subset-matrix compat-subset-history compat-input-count compat-battles
        compat-battle compat-h2h compat-prompts compat-search compat-search-prompts compat-all-models
        compat-model-battles""",
    ),
}
