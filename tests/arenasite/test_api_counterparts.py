"""Whoever reads a page about one thing can have the same from a program: each such page has a route that gives data."""

import re
from uuid import UUID

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import ResolverMatch, reverse

from arenasite import navigation
from tests.experiments.api.handlers import routes

pytestmark = pytest.mark.django_db

LISTED = """
    call:api-calls dataset-sample:api-dataset-samples ladder-sample:api-dataset-samples model:api-models
    public-arena-battle:public-arena-data vote:api-vote-offer
"""  # data of one thing come with those of its kind
OF_ITS_OWN = """
    battle:api-battle bulk-export:api-bulk-export coding-cycle:api-cycle dataset:api-dataset-detail
    experiment:api-experiment-detail file:api-file instrument:api-instrument ladder:api-ladder note:api-note
    person:api-person-detail project:api-project-detail provider:api-provider-detail
    review-desk-run:api-review-desk-run review-item:api-review-item review-queue:api-review-queue
    review-rubric:api-review-rubric run:api-run-detail run-import-file:api-run-import-file run-ranking:api-ranking
    scenario:api-scenario study:api-study-detail view:api-view
"""
COUNTERPARTS = dict(pair.split(":") for pair in (LISTED + OF_ITS_OWN).split())
ABOUT_ONE = re.compile(r"<(uuid|int|slug):(pk|slug|ref|turn)>/$")  # what the address ends with
GIVEN = {"uuid": UUID(int=1), "int": 1, "slug": "any", "str": "any"}


def takes_get(client, address, name):
    kwargs = {given: GIVEN[kind] for kind, given in re.findall(r"<(\w+):(\w+)>", address)}
    return client.get(reverse(name, kwargs=kwargs)).status_code != 405


def test_each_page_about_one_thing_has_a_route_that_gives_its_data_at_its_own_address_or_in_a_list(client, admin):
    client.force_login(admin)
    known = {route.name: address for address, route in routes()}

    def is_in_a_group(route):
        match = ResolverMatch(lambda: None, (), route.default_args, route.name)
        return navigation.place_of(match, AnonymousUser(), (navigation.new(), *navigation.GROUPS)) is not None

    about_one_thing = {
        route.name
        for address, route in routes()
        if not address.startswith(("api/", "admin/"))
        and "<str:" not in address  # a secret link, which is shared with people
        and ABOUT_ONE.search(address)
        and not {"new", "import"} & set(address.split("/"))  # forms of several steps
        and is_in_a_group(route)
        and takes_get(client, address, route.name)
    }
    assert about_one_thing == set(COUNTERPARTS)
    assert set(COUNTERPARTS.values()) <= set(known)
    assert {one for one in COUNTERPARTS.values() if not takes_get(client, known[one], one)} == set()
    for page, data in (pair.split(":") for pair in OF_ITS_OWN.split()):
        ids, of_data = (re.findall(r"<(\w+):", known[name]) for name in (page, data))
        assert of_data[:1] == ids[:1], page
