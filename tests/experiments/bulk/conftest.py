"""Alice's programs, as the API has them."""

from tests.experiments.api.conftest import Api, api, is_problem

__all__ = ["Api", "api", "is_problem"]
