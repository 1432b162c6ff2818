"""A lab in which everything that somebody may write is hostile."""

from tests.experiments.conftest import files_of_their_own, played, translations
from tests.experiments.rights.conftest import things

__all__ = ["files_of_their_own", "played", "things", "translations"]
