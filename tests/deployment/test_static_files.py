"""What a web server in front reads of the platform's directory: files that everybody may read, and nothing else."""

import os

from django.core.management import call_command


def test_static_files_can_be_read_by_others_whatever_the_services_keep_to_themselves(tmp_path, settings):
    settings.STATIC_ROOT = tmp_path / "static"
    before = os.umask(0o077)
    try:
        call_command("collectstatic", "--no-input", verbosity=0)
    finally:
        os.umask(before)

    found = [settings.STATIC_ROOT, *settings.STATIC_ROOT.rglob("*")]
    assert len(found) > 50
    assert {path.stat().st_mode & 0o777 for path in found if path.is_dir()} == {0o755}
    assert {path.stat().st_mode & 0o777 for path in found if path.is_file()} == {0o644}
