"""Settings of every process. Nothing needs to be configured; README.md lists what can be."""

import os
from pathlib import Path

import dj_database_url
import django_stubs_ext
from django.utils.translation import gettext_lazy as _

from arenasite import environment, plugins
from arenasite.describing import SPECTACULAR_SETTINGS  # noqa: F401 - a setting
from arenasite.logs import logging_settings

django_stubs_ext.monkeypatch()
# Processes share the cores: threads of numpy's would wait for each other, and take more time of them than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("ARENA_DATA") or BASE_DIR / "var").resolve()
SOCKET_DIR = environment.socket_directory(DATA_DIR)
MISSING_PARTS_FILE = SOCKET_DIR / "missing-parts"  # what `manage.py up` is restarting
FILES_DIR = Path(os.environ.get("ARENA_FILES") or DATA_DIR).resolve()  # exports, uploads, pictures: of all machines

SECRET_KEY = environment.secret_key(DATA_DIR)
KEY_SECRETS = environment.key_secrets(DATA_DIR)  # what stored provider keys are encrypted with; docs/administering.md
DEBUG = environment.flag("ARENA_DEBUG")
DEMO_MODE = environment.flag("ARENA_DEMO")
ALLOWED_HOSTS = environment.words("ARENA_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.words("ARENA_ORIGINS")
HTTPS = environment.flag("ARENA_HTTPS")

INSTALLED_APPS = [
    "arenasite",
    "arenasite.administration.LabAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_filters",
    "django_rq",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "accounts",
    "experiments",
    "leaderboard",
]

MIDDLEWARE = [
    "arenasite.requests.RequestMiddleware",
    "arenasite.probes.ProbeMiddleware",
    "arenasite.compression.CompressionMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "arenasite.shielding.ShieldMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.people.AccountLanguageMiddleware",
    "accounts.api_requests.ApiAnswerMiddleware",
    "accounts.audit_hooks.AuditMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "accounts.sessions.SessionAgeMiddleware",
    "accounts.people.AskingMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.factors.SecondFactorMiddleware",
    "accounts.refusing.RefusingMiddleware",
    "arenasite.problems.FullDiskMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "arenasite.urls"
ASGI_APPLICATION = "arenasite.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates", *plugins.folders("templates")],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "arenasite.context.site",
            ],
            "builtins": ["accounts.templatetags.controls"],
            "libraries": plugins.tag_libraries("experiments.workflows"),
        },
    },
]

FORM_RENDERER = "arenasite.form_renderer.FormRenderer"

# --- Database: SQLite in the data directory, or what DATABASE_URL says ---------------------------------------

SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",  # a deferred transaction that turns into a write fails with "locked" at once
    "timeout": 20,
    # FULL: a commit returns when the WAL has been synced, so it survives a loss of power. NORMAL syncs at checkpoints
    # only. Two of three commits of a run need FULL (call written ahead, call settled), so all connections have it.
    "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA mmap_size=134217728;"
    "PRAGMA cache_size=-20000;PRAGMA temp_store=MEMORY;",
}

DATABASES = {"default": dj_database_url.config(default=f"sqlite:///{DATA_DIR / 'arena.sqlite3'}")}
DATABASES["default"].setdefault("TEST", {})
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"] |= {"OPTIONS": SQLITE_OPTIONS, "CONN_MAX_AGE": None}
    # A file, not memory: live servers and workers of the tests share it.
    DATABASES["default"]["TEST"]["NAME"] = str(DATA_DIR / "test.sqlite3")
else:
    DATABASES["default"] |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    # A server that is cut off is noticed within half a minute, not when the kernel gives up after a quarter of an hour.
    patience = {"connect_timeout": 10, "keepalives_idle": 10, "keepalives_interval": 5, "tcp_user_timeout": 30_000}
    # Nor does the server keep for hours what a machine that is gone, or stands still, had locked.
    theirs = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4"
    theirs += " -c tcp_user_timeout=30s -c idle_in_transaction_session_timeout=2min"
    theirs += " -c synchronous_commit=on"  # a commit survives a loss of power, whatever the server's default is
    DATABASES["default"]["OPTIONS"] = {**patience, "options": theirs, **DATABASES["default"].get("OPTIONS", {})}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis: the job queue (RQ), the channel layer and the throttles ---------------------------------------

REDIS_URL = os.environ.get("REDIS_URL") or f"unix://{SOCKET_DIR / 'redis.sock'}"
REDIS_IS_EMBEDDED = not os.environ.get("REDIS_URL")

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "arena"},
    }
}
CACHES = {
    "default": {
        "BACKEND": "arenasite.cache.CountingCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "arena-cache",
        "OPTIONS": {"socket_timeout": 3},  # a server that is cut off is as good as none: each process counts by itself
    },
    "memory": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},  # of each process
}
# A Redis that is cut off is as good as none: what enqueues a job goes on. Workers wait for jobs as long as RQ says.
RQ_QUEUES = {
    queue: {"URL": environment.with_query(REDIS_URL, socket_timeout=2), "DEFAULT_TIMEOUT": -1}
    for queue in ("engine", "reports", "datasets", "ratings", "sandbox", "webhooks", "callers")
}
RQ = {"WORKER_CLASS": "experiments.engine.jobs.EngineWorker"}

# --- The engine ----------------------------------------------------------------------------------------------

RUNS_PER_WORKER = int(os.environ.get("ARENA_RUNS_PER_WORKER", "200"))
LEASE_SECONDS = environment.seconds("ARENA_LEASE_SECONDS", 15)
SWEEP_SECONDS = environment.seconds("ARENA_SWEEP_SECONDS", 3)
RISK_DOLLARS = environment.amount("ARENA_RISK_DOLLARS", 1, "dollars")  # of a failed call, to ask the same once more
DRAIN_SECONDS = environment.seconds("ARENA_DRAIN_SECONDS", 5)
CALLERS = environment.whole("ARENA_CALLERS", 0, least=0)  # processes that make the calls; 0: each worker makes its own
CALLS_PER_CALLER = environment.whole("ARENA_CALLS_PER_CALLER", 200)  # at the same time
BATCH_GATHER_SECONDS = environment.seconds("ARENA_BATCH_GATHER_SECONDS", 30)  # that a call waits for others of a batch
BATCH_POLL_SECONDS = environment.seconds("ARENA_BATCH_POLL_SECONDS", 20)  # before the first look; then ever longer

# Tokens that an answer in these roles of a debate may have at most; who sets a debate up cannot raise them.
ROLE_TOKENS = {
    "refiner": environment.whole("ARENA_TOKENS_REFINER", 1500),
    "debater": environment.whole("ARENA_TOKENS_DEBATER", 2000),
    "summarizer": environment.whole("ARENA_TOKENS_SUMMARIZER", 2500),
}
ROLE_TOKENS_CAP = environment.whole("ARENA_TOKENS_CAP", 4096)

# --- The sandbox ----------------------------------------------------------------------------------------------

SANDBOX_BACKEND = os.environ.get("ARENA_SANDBOX", "")  # "" is the best that this machine has; docs/coding.md
SANDBOX_AT_ONCE = environment.whole("ARENA_SANDBOX_AT_ONCE", os.cpu_count() or 1)  # boxes, of each worker
SANDBOX_STANDBY = environment.whole("ARENA_SANDBOX_STANDBY", 64, least=0)  # boxes started ahead, of each worker

# --- Files of runs: made at once for a short run, by a worker for a long one ----------------------------------

EXPORTS_DIR = FILES_DIR / "exports"
EXPORT_DIRECT_MESSAGES = 60  # a run of more messages has its files made by a worker
EXPORT_DAYS = 7.0  # a finished file is kept for so long
EXPORT_LEASE_SECONDS = 30.0  # a worker that was silent for so long has died

# --- Datasets, battles and votes -------------------------------------------------------------------------------

IMAGES_DIR = FILES_DIR / "images"
UPLOADS_DIR = FILES_DIR / "uploads"
UPLOAD_BYTES = environment.whole("ARENA_UPLOAD_MB", 512) << 20  # the longest file that a dataset is made from
DATASET_MEMORY = environment.whole("ARENA_DATASET_MEMORY_MB", 1500) << 20  # that reading one may take
DATASET_UNPACKED = environment.whole("ARENA_DATASET_UNPACKED_MB", 8192) << 20  # of an archive's content
DATASET_SECONDS = 3600.0  # that reading one may last
DATASET_SILENT_SECONDS = 300.0  # without a word from the process that reads it
DATASET_LEASE_SECONDS = 30.0  # a worker that was silent for so long has died
UPLOAD_DAYS = 1.0  # a file that nobody says how to read is kept for so long
BATTLES_PER_RUN = environment.whole("ARENA_BATTLES_PER_RUN", 50)  # a campaign's work is shared out in runs of so many
RUNS_PER_CAMPAIGN = environment.whole("ARENA_RUNS_PER_CAMPAIGN", 12)  # so many of them wait or run at the same time
PUBLIC_VOTES = environment.flag("ARENA_PUBLIC_VOTES", DEMO_MODE)  # whether visitors may vote on what is public
VOTES_PER_DAY = environment.whole("ARENA_VOTES_PER_DAY", 500)  # of one person; a visitor has a tenth

# --- Webhooks --------------------------------------------------------------------------------------------------

WEBHOOK_SECONDS = 15.0  # that a receiver has for its answer
WEBHOOK_LEASE_SECONDS = 60.0  # a sender that was silent for so long has died: what it sent is sent again
WEBHOOK_DAYS = 30.0  # what was told is kept for so long

# --- People --------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "accounts.passwords.EasyPasswordValidator"},
    {"NAME": "accounts.passwords.BreachedPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 3600  # seconds that the link in a letter works
PASSWORD_WORDS = environment.words("ARENA_PASSWORD_WORDS")  # that a password may not rest upon, beside our own
BREACHED_PASSWORDS = os.environ.get("ARENA_BREACHED_PASSWORDS", "")  # a file of SHA-1 digests; docs/security.md
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
TRUSTED_PROXIES = environment.whole("ARENA_PROXIES", 0, least=0)  # that stand before us and add X-Forwarded-For

SIGNUP = environment.one_of("ARENA_SIGNUP", environment.SIGNUPS)
SIGNUP_DOMAINS = [domain.lower().lstrip("@") for domain in environment.words("ARENA_SIGNUP_DOMAINS")]
INVITATION_DAYS = environment.whole("ARENA_INVITATION_DAYS", 7)
REQUIRE_MFA = environment.some_of("ARENA_REQUIRE_MFA", environment.ROLES)  # these roles need a second factor
if DEMO_MODE:
    REQUIRE_MFA = []  # its password is published: a second factor would lock everybody else out

MAIL = environment.mail("ARENA_EMAIL_URL")
HAS_MAIL = MAIL is not None  # whether a letter of ours reaches anybody
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if MAIL else 'console'}.EmailBackend"
if MAIL:
    EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.starttls, MAIL.tls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = os.environ.get("ARENA_EMAIL_FROM") or "Arena Lab <arena@localhost>"

ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {"login": "accounts.adapters.SignInForm"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*" if SIGNUP == "domain" else "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if SIGNUP == "domain" else "optional" if HAS_MAIL else "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Arena Lab] "
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300  # seconds for which one confirmation holds
ACCOUNT_RATE_LIMITS = {
    "login": "",  # passwords: accounts/guessing.py
    "login_failed": "20/m/ip,5/5m/key",  # codes of second factors, asked for after the password
    "signup": "20/m/ip",
}

MFA_ADAPTER = "accounts.adapters.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_TOTP_ISSUER = "Arena Lab"
MFA_TOTP_TOLERANCE = 1  # a clock may be half a minute off
MFA_ALLOW_UNVERIFIED_EMAIL = True  # not every lab has a mail server, and nobody signs up without being let in
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers themselves allow it on localhost alone

OIDC = environment.oidc()  # the lab's own sign-in, if it has one
SOCIALACCOUNT_ADAPTER = "accounts.adapters.LabAccountAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form may be sent to us alone (CSP), not on to another server
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True  # of verified addresses alone: accounts/adapters.py
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [OIDC.app()] if OIDC else [], "OAUTH_PKCE_ENABLED": True}}

SESSION_COOKIE_NAME = "__Host-arena_session" if HTTPS else "arena_session"
BROWSER_COOKIE_NAME = "__Host-arena_browser" if HTTPS else "arena_browser"  # who has signed in here before
THEME_COOKIE_NAME = "__Host-arena_theme" if HTTPS else "arena_theme"
MESSAGE_STORAGE = "accounts.refusing.NoticeStorage"
CSRF_COOKIE_NAME = "__Host-arena_csrf" if HTTPS else "arena_csrf"
SESSION_COOKIE_AGE = environment.whole("ARENA_SESSION_IDLE_HOURS", 72) * 3600  # seconds without use end a sign-in
SESSION_LONGEST = environment.whole("ARENA_SESSION_DAYS", 14) * 86_400  # seconds after which it ends in any case
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^api/"]  # refused unless encrypted: arenasite/shielding.py
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = environment.flag("ARENA_HSTS_SUBDOMAINS", True)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {  # our own files, and nothing in line
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "object-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# --- Languages and time --------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LANGUAGE_COOKIE_NAME = "__Host-arena_language" if HTTPS else "arena_language"
LOCALE_PATHS = [BASE_DIR / "locale", *plugins.folders("locale")]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- Files ---------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("documentation", BASE_DIR / "docs" / "pictures"),
    *plugins.folders("static"),
]
STATIC_ROOT = DATA_DIR / "static"
READ_BY_ALL = {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755}  # by a web server in front
STORAGES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage", "OPTIONS": READ_BY_ALL},
}
if bucket := environment.bucket():
    STORAGES["bucket"] = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": bucket}
WHITENOISE_USE_FINDERS = True
MEDIA_ROOT = DATA_DIR / "media"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 << 20

# --- The API -------------------------------------------------------------------------------------------------

# Requests in a minute; 0 is no limit.
API_PER_PERSON = environment.whole("ARENA_API_PER_PERSON", 1200, least=0)
API_PER_ADDRESS = environment.whole("ARENA_API_PER_ADDRESS", 3000, least=0)
SOCKETS_PER_PERSON = environment.whole("ARENA_SOCKETS", 1000)  # that one person, or address, holds open in a process
API_KEY_TESTS = environment.whole("ARENA_API_KEY_TESTS", 6, least=0)

REST_FRAMEWORK = {
    "URL_FORMAT_OVERRIDE": None,  # `?format=` chooses the format of a report
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "accounts.permissions.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.api_requests.OfPerson", "accounts.api_requests.OfAddress"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["accounts.api_requests.ShallowJsonParser"],
    "DEFAULT_PAGINATION_CLASS": "experiments.api.pagination.NewestFirst",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "experiments.api.schema.Described",
    "EXCEPTION_HANDLER": "experiments.api.problems.problem_response",
    "PAGE_SIZE": 50,
    "COERCE_DECIMAL_TO_STRING": True,
}
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer"}
KNOX_TOKEN_MODEL = "accounts.ApiToken"  # noqa: S105 — a model's name
MIGRATION_MODULES = {"knox": None}  # its own token table is swapped for ours

# --- Observing: docs/operating.md ------------------------------------------------------------------------------

METRICS_TOKEN = environment.token("ARENA_METRICS_TOKEN")  # whoever shows it may read /metrics, beside administrators
TRACE_EXPORTER = environment.trace_exporter()  # "" for none

# --- Errors: reports of them show no secret, whoever reads them -----------------------------------------------

DEFAULT_EXCEPTION_REPORTER_FILTER = "arenasite.reporting.SecretsFilter"

# --- Logs: what an operator must know; never prompts, replies or keys ----------------------------------------

LOGGING = logging_settings()
