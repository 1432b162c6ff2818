"""Whatever a page changes can be changed by a program too, over the same verb; or it is said why not."""

from tests.experiments.rights.things import addresses

SAME = {  # what a page's address is called, and the API's
    "account": "api-tokens",
    "token-revoke": "api-token",
    "arena": "api-experiment-list",
    "starchamber": "api-experiment-list",
    "council": "api-experiment-list",
    "debate": "api-experiment-list",
    "battles": "api-experiment-list",
    "coding": "api-experiment-list",
    "outputs-make": "api-experiment-list",
    "experiment-start": "api-experiment-start",
    "experiment-share": "api-experiment-share",
    "link-create": "api-experiment-links",
    "link-revoke": "api-link",
    "experiment-budget": "api-budgets",
    "project-budgets": "api-budgets",
    "budgets": "api-budgets",
    "budget-remove": "api-budget",
    "campaign-stop": "api-campaign-stop",
    "campaign-resume": "api-campaign-resume",
    "run-stop": "api-run-stop",
    "run-resume": "api-run-resume",
    "run-say": "api-run-say",
    "run-pause": "api-run-pause",
    "run-mode": "api-run-mode",
    "run-extend": "api-run-extend",
    "run-ask": "api-run-ask",
    "run-draft": "api-run-draft",
    "run-lift": "api-run-lift",
    "run-judge": "api-run-judge",
    "run-files": "api-run-files",
    "run-import": "api-run-import",
    "run-flags": "api-run-flags",
    "run-curation": "api-run-curation",
    "message-branch": "api-branch",
    "my-keys": "api-keys",
    "lab-keys": "api-keys",
    "key-replace": "api-key",
    "key-remove": "api-key",
    "key-test": "api-key-test",
    "scenario-new": "api-scenarios",
    "scenario-edit": "api-scenario-versions",
    "scenario-share": "api-scenario-share",
    "scenario-archive": "api-scenario-archive",
    "scenario-copy": "api-scenario-copy",
    "scenario-demonstration": "api-demonstration",
    "presets": "api-presets",
    "preset-edit": "api-preset",
    "preset-share": "api-preset",
    "preset-delete": "api-preset",
    "preset-copy": "api-presets",
    "council-presets": "api-council-presets",
    "council-preset-delete": "api-council-preset",
    "dataset-new": "api-dataset-list",
    "dataset-upload": "api-dataset-list",
    "dataset-outputs": "api-dataset-outputs",
    "dataset-visibility": "api-dataset-visibility",
    "dataset-delete": "api-dataset-detail",
    "contestant-change": "api-contestant",
    "battles-import": "api-dataset-battles",
    "battles-import-new": "api-dataset-battles",
    "battle-void": "api-battle",
    "dataset-voters": "api-dataset-voters",
    "vote-cast": "api-vote",
    "ladder-cycles": "api-cycle-void",
    "coding-cycle": "api-cycle-void",
    "people": "api-invitations",
    "person-role": "api-person",
    "person-deactivate": "api-person-deactivate",
    "person-reactivate": "api-person-reactivate",
    "person-factors": "api-person-factors",
    "invitation-revoke": "api-invitation",
    "project-new": "api-projects",
    "project-change": "api-project",
    "project-archive": "api-project",
    "project-members": "api-project-members",
    "project-member": "api-project-member",
    "project-invite": "api-invitations",
    "review-queue-new": "api-review-queues",
    "review-queue-change": "api-review-queue-change",
    "review-queue-fill": "api-review-queue-fill",
    "review-queue-state": "api-review-queue-change",
    "review-item": "api-review-answer",
    "review-next": "api-review-next",
    "review-undo": "api-review-undo",
    "review-claim": "api-review-claim",
    "review-release": "api-review-release",
    "review-skip": "api-review-skip",
    "review-reveal": "api-review-reveal",
    "review-rubric-new": "api-review-rubrics",
    "review-rubric-edit": "api-review-rubric",
    "my-webhooks": "api-webhooks",
    "project-webhooks": "api-webhooks",
    "webhook": "api-webhook",
    "webhook-rotate": "api-webhook-secret",
    "webhook-test": "api-webhook-test",
    "webhook-switch": "api-webhook",
    "webhook-remove": "api-webhook",
    "delivery-again": "api-delivery-again",
    "experiment-clone": "api-experiment-clone",
    "experiment-tags": "api-tags",
    "run-tags": "api-run-tags",
    "runs-chosen": "api-tags",
    "run-notes": "api-run-notes",
    "message-note": "api-run-notes",
    "note": "api-note",
    "note-delete": "api-note",
    "view-new": "api-views",
    "view": "api-view",
    "view-delete": "api-view",
    "bulk-exports": "api-bulk-exports",
    "bulk-export-cancel": "api-bulk-export",
    "run-import-store": "api-run-import-store",
    "run-import-cancel": "api-run-import-file",
}
WITHOUT = {  # of these a program has no need, or must not be able to
    "signing in and second factors are a person's, in a browser": """login account_login logout account_logout
        account_signup account_inactive account_reauthenticate account_reset_password account_reset_password_done
        account_reset_password_from_key account_reset_password_from_key_done account_change_password
        account_set_password account_email account_email_verification_sent account_confirm_email openid_connect_login
        openid_connect_callback socialaccount_connections socialaccount_login_cancelled socialaccount_login_error
        socialaccount_signup sign-out-elsewhere sign-out-one invitation""",
    "of one browser": "set-language set-theme",
    "asked by machines, without a sign-in": "healthz readyz",
    "what was typed so far, for the page that goes on with it": "review-draft",
}
READING = """
    arena-estimate audit audit-table battle battles-estimate board-export bulk-export bulk-export-download
    bulk-export-manifest call campaign-live coding-estimate
    coding-ratings compare-chosen council-estimate dataset dataset-contestants dataset-image dataset-sample datasets
    debate-estimate experiment experiment-sharing experiment-values file file-download home javascript-catalog ladder
    ladder-agreement ladder-battles ladder-download ladder-history ladder-matrix ladder-milestones ladder-sample
    ladder-samples leaderboard log-import message-text message-tokens methodology metrics models my-votes operator
    operator-now outputs-estimate
    person project projects review review-agreement review-agreement-csv review-queue review-rubric review-rubrics run
    run-artifacts run-compare run-export run-import-file run-news run-ranking run-report run-status runs scenario
    scenario-changes scenarios search shared shared-run starchamber-estimate talk-figures usage usage-csv vote
    vote-picture votes
"""


def words(text):
    return set(text.split())


def test_each_page_that_changes_something_has_an_address_of_the_api_or_a_reason():
    pages = {name for name, route in addresses() if not route.startswith("api/") and not name.startswith("mfa_")}
    told = set(SAME) | words(READING) | {name for names in WITHOUT.values() for name in words(names)}

    assert pages - told == set(), "say of each new page what a program does instead"
    assert told - pages == set()


def test_each_of_those_addresses_is_there():
    api = {name for name, route in addresses() if route.startswith("api/")}

    assert set(SAME.values()) - api == set()


def test_no_page_is_told_twice():
    lists = [set(SAME), words(READING), *map(words, WITHOUT.values())]

    assert sum(map(len, lists)) == len(set().union(*lists))
