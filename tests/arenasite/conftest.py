from collections.abc import Callable, Iterator

import pytest

from tests.arenasite.platforms import Platform, wait_until


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A platform that serves; shared, so a test leaves it well."""
    started = Platform(tmp_path_factory.mktemp("platform") / "data")
    try:
        started.wait_until_ready()
        wait_until(lambda: len(started.pids("worker")) == 2 and started.pids("reports"))
        yield started
    finally:
        if started.process.poll() is None:
            started.end()


@pytest.fixture
def start(tmp_path) -> Iterator[Callable[..., Platform]]:
    """Starts platforms that are gone after the test, whatever happens in it."""
    started: list[Platform] = []

    def begin(*arguments: str, **options) -> Platform:
        started.append(Platform(options.pop("data", tmp_path / "data"), *arguments, **options))
        return started[-1]

    yield begin
    for platform in started:
        platform.process.kill()
        platform.process.wait()
