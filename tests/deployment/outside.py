"""A platform behind a real nginx with our example configuration: what people outside reach."""

import datetime
import ipaddress
import os
import re
import shutil
import ssl
import subprocess
from pathlib import Path

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.arenasite.platforms import Platform, free_port, manage
from tests.fixtures import wait_until

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "deploy/nginx"
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
PASSWORD = "correct horse battery"
MONITOR = "127.0.0.9"  # where Prometheus is
DEMO = "@demo.invalid"
METRICS = "a-token-for-figures"
ENDLESS = "sim/cooperative:tps=25:words=20000:first=0"
PREPARED = f"""
from django.core.management import call_command
from accounts.models import User
from arenasite import demo
call_command("collectstatic", "--no-input", verbosity=0)
address = ("--base-url", "http://127.0.0.1:{{port}}/v1", "--allow-private")
call_command("add_provider", "--name", "paced", *address, "--model", "{ENDLESS}")
User.objects.create_superuser("root", "root@example.org", "{PASSWORD}")
demo.prepare_people()
assert User.objects.filter(is_active=True, email__endswith="{DEMO}").count() == 3
call_command("create_token", "root")
"""
MAIN = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    include /etc/nginx/mime.types;
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/conf.d/*.conf;
}}
"""


class Outside:
    """Stands for the internet. url: of the platform, over TLS."""

    def __init__(self, folder: Path) -> None:
        assert NGINX, "nginx is missing: apt install nginx-light"
        self.folder, self.plain, self.port = folder, free_port(), free_port()
        self.url = f"https://localhost:{self.port}"
        self.tls = certificate(folder)
        options = {"ARENA_HOSTS": "localhost", "ARENA_ORIGINS": self.url, "ARENA_HTTPS": "1", "ARENA_PROXIES": "1"}
        options["ARENA_METRICS_TOKEN"] = METRICS
        self.data = {"ARENA_DATA": str(folder / "data"), **options, "ARENA_UPLOAD_MB": "1"}
        self.platform = Platform(folder / "data", "--workers", "1", **options, ARENA_UPLOAD_MB="1")
        self._nginx = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(self._configured())])

    def wait_until_ready(self) -> "Outside":
        self.platform.wait_until_ready()
        wait_until(lambda: self.port_answers() or self._nginx.poll() is not None, "nginx")
        assert self._nginx.poll() is None, (self.folder / "error.log").read_text()
        port = (self.folder / "data/run/simulated.port").read_text().strip()
        self.token = self.manage("shell", "--no-imports", "-c", PREPARED.format(port=port)).split()[-1]
        return self

    def port_answers(self) -> bool:
        try:
            return self.browser().get("/healthz").status_code < 502
        except httpx.TransportError:
            return False

    def browser(self, local_address: str = "127.0.0.1", **headers: str) -> httpx.Client:
        transport = httpx.HTTPTransport(verify=self.tls, local_address=local_address)
        return httpx.Client(base_url=self.url, transport=transport, headers=headers, timeout=60)

    def program(self) -> httpx.Client:
        return self.browser(authorization=f"Bearer {self.token}")

    def manage(self, *command: str) -> str:
        done = manage(*command, **self.data)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def end(self) -> None:
        self._nginx.terminate()
        self._nginx.wait(20)
        self.platform.process.terminate()
        self.platform.process.wait(80)

    def _configured(self) -> Path:
        """Our example, with the ports, certificate, folders and upload limit of this test, and nothing else changed."""
        (self.folder / "conf.d").mkdir()
        text = (EXAMPLE / "arena.conf").read_text()
        for pattern, by in (
            (r"listen 80;", f"listen 127.0.0.1:{self.plain};"),
            (r"listen 443 ssl http2;", f"listen 127.0.0.1:{self.port} ssl http2;"),
            (r"\n *listen \[::\][^\n]*", ""),
            (r"arena\.example\.org", "localhost"),
            (r"/etc/ssl/arena", str(self.folder)),
            (r"/var/log/nginx", str(self.folder)),
            (r"# allow 192\.0\.2\.10;", f"allow {MONITOR};"),
            (r"/var/lib/arena/static/", f"{self.folder}/data/static/"),
            (r"client_max_body_size( +)513m", r"client_max_body_size\g<1>2m"),
        ):
            text, count = re.subn(pattern, by, text)
            assert count, f"the example has no {pattern}"
        (self.folder / "conf.d/arena.conf").write_text(text)
        upstream = (EXAMPLE / "upstream.conf").read_text()
        (self.folder / "conf.d/upstream.conf").write_text(
            upstream.replace("127.0.0.1:8000", f"127.0.0.1:{self.platform.port}")
        )
        main = self.folder / "nginx.conf"
        main.write_text(MAIN.format(folder=self.folder, user="user root;" if os.getuid() == 0 else ""))
        return main


def certificate(folder: Path) -> ssl.SSLContext:
    """A self-signed one for localhost, and what trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "privkey.pem").write_bytes(key.private_bytes(*form))
    return ssl.create_default_context(cafile=folder / "fullchain.pem")
