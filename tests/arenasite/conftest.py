from collections.abc import Callable, Iterator

import pytest

from tests.arenasite.platforms import Platform


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
