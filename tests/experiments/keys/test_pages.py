"""The pages and the API of keys, and the page of models, by whoever looks."""

from django.utils import timezone

from experiments.models import KeyUse, ModelPrice, ProviderKey, ProviderModel
from tests.experiments.keys.conftest import LAB, MINE, OTHER
from tests.fixtures import signed_in

JSON = "application/json"


def test_i_add_replace_test_and_remove_my_key_without_ever_seeing_it_again(alice, locked):
    browser, provider = signed_in(alice), locked(MINE)
    seen = [browser.get("/account/keys/")]
    wrong = browser.post("/account/keys/", {"provider": provider.pk, "key": "sk with spaces in it"})
    assert (wrong.status_code, "sk with spaces" in wrong.content.decode()) == (422, False)
    seen += [browser.post("/account/keys/", {"provider": provider.pk, "key": OTHER}, follow=True)]
    assert all(text in seen[-1].content.decode() for text in ("2 models", "locked/one", f"…{OTHER[-4:]}"))
    key = ProviderKey.objects.get()
    seen += [browser.post(f"/keys/{key.pk}/test/", follow=True)]
    assert "refuses the key" in seen[-1].content.decode()
    seen += [browser.get(f"/keys/{key.pk}/replace/")]
    seen += [browser.post(f"/keys/{key.pk}/replace/", {"key": MINE}, follow=True)]
    key = ProviderKey.objects.active().get()
    seen += [browser.post(f"/keys/{key.pk}/test/", follow=True)]
    assert "accepts the key" in seen[-1].content.decode()
    seen += [browser.post(f"/keys/{key.pk}/remove/", follow=True)]

    assert not ProviderKey.objects.active().exists()
    assert {answer.status_code for answer in seen} == {200}
    assert not any(text in answer.content.decode() for answer in seen for text in (MINE, OTHER))
    assert all("no-store" in answer["Cache-Control"] for answer in seen)


def test_the_labs_page_is_for_administrators_and_shows_of_peoples_keys_that_they_exist(alice, admin, locked, add):
    provider = locked()
    key = add(alice, provider)
    assert signed_in(alice).get("/lab/keys/").status_code == 404
    browser = signed_in(admin)
    page = browser.get("/lab/keys/").content.decode()
    assert ("alice" in page, MINE[-4:] in page) == (True, False)
    browser.post("/lab/keys/", {"provider": provider.pk, "key": LAB})
    assert ProviderKey.objects.of_lab().get().created_by == admin
    assert browser.post(f"/keys/{key.pk}/test/").status_code == 404
    assert browser.post(f"/keys/{key.pk}/replace/", {"key": OTHER}).status_code == 404

    browser.post(f"/keys/{key.pk}/remove/")
    assert not ProviderKey.objects.active().filter(owner=alice).exists()


def test_the_api_takes_a_key_and_gives_none(alice, admin, locked):
    locked(MINE)
    browser = signed_in(alice)
    made = browser.post("/api/keys/", {"provider": "locked", "key": OTHER, "name": "grant"}, content_type=JSON)
    assert (made.status_code, made.json()["of"], made.json()["hint"]) == (201, "me", OTHER[-4:])
    again = browser.post("/api/keys/", {"provider": "locked", "key": MINE}, content_type=JSON)
    assert (again.status_code, again["Content-Type"]) == (409, "application/problem+json")
    for body in ({}, {"provider": "locked"}, {"provider": "nobody", "key": MINE}, {"key": [MINE]}):
        wrong = browser.post("/api/keys/", body, content_type=JSON)
        assert (wrong.status_code, MINE in wrong.content.decode()) == (400, False), body
    replaced = browser.put(f"/api/keys/{made.json()['id']}/", {"key": MINE}, content_type=JSON).json()
    tested = browser.post(f"/api/keys/{replaced['id']}/test/").json()
    assert (tested["accepted"], tested["test"]) == (True, "accepted")
    for body in (made.json(), again.json(), replaced, tested, browser.get("/api/keys/").json()):
        assert not any(text in str(body) for text in (MINE, OTHER, "ciphertext"))
    assert browser.delete(f"/api/keys/{replaced['id']}/").status_code == 204
    assert browser.get("/api/keys/").json()["results"] == []
    of_lab = {"provider": "locked", "key": LAB, "of": "lab"}
    assert browser.post("/api/keys/", of_lab, content_type=JSON).status_code == 403
    assert signed_in(admin).post("/api/keys/", of_lab, content_type=JSON).json()["of"] == "lab"


def test_which_models_are_available_depends_on_who_asks(alice, bob, locked, add):
    add(alice, locked())
    for person, expected in ((alice, True), (bob, False)):
        browser = signed_in(person)
        listed = {one["slug"]: one["available"] for one in browser.get("/api/models/").json()["results"]}
        assert listed["locked/one"] is expected
        names = {one["slug"] for one in browser.get("/api/models/?available=true").json()["results"]}
        assert ("locked/one" in names) is expected
        assert ('value="locked/one"' in browser.get("/arena/").content.decode()) is expected
        page = browser.get("/models/?search=locked&available=all").content.decode()
        assert ("It needs a key." in page) is not expected
    ProviderModel.objects.filter(slug="locked/one").update(is_active=False)
    page = signed_in(alice).get("/models/?search=locked&available=all").content.decode()
    assert page.index("locked/two") < page.index("locked/one"), "what can be asked comes first"
    assert "locked/one" not in signed_in(alice).get("/models/?search=nothing-like-it").content.decode()


def test_the_admin_shows_that_there_are_keys_keeps_used_prices_and_ends_their_use(admin, alice, locked, add, played):
    provider, run = locked(), played(max_turns=1)
    add(alice, provider)
    add(admin, provider, LAB, for_lab=True)
    model = run.calls.first().model
    price = ModelPrice.objects.create(model=model, since=timezone.now(), input=1, output=1)
    run.calls.update(price=price)
    use = KeyUse.objects.create(key=ProviderKey.objects.first(), run=run, day=timezone.now().date())
    browser = signed_in(admin)
    paths = ["providerkey/", "provider/", f"provider/{provider.pk}/change/", "providermodel/"]
    paths += [f"providermodel/{model.pk}/change/", f"providerkey/{use.key_id}/change/", f"keyuse/{use.pk}/change/"]
    secrets = (MINE, LAB, *ProviderKey.objects.exclude(ciphertext="").values_list("ciphertext", flat=True))
    for path in paths:
        answer = browser.get(f"/admin/experiments/{path}")
        assert answer.status_code == 200, path
        assert not any(text in answer.content.decode() for text in secrets)
    page = browser.get(f"/admin/experiments/providermodel/{model.pk}/change/").content.decode()
    assert 'name="prices-0-input"' in page
    assert "disabled" in page[page.index('name="prices-0-input"') :][:200]

    assert "Switched off" not in signed_in(alice).get(f"/runs/{run.pk}/").content.decode()
    chosen = {"action": "switch_off", "_selected_action": [model.pk]}
    browser.post("/admin/experiments/providermodel/", chosen)
    for path in (f"/runs/{run.pk}/", f"/experiments/{run.experiment_id}/", "/models/?available=no"):
        assert "Switched off" in signed_in(alice).get(path).content.decode(), path
    ending = {"action": "end_use", "_selected_action": [str(ProviderKey.objects.owned_by(alice).get().pk)]}
    browser.post("/admin/experiments/providerkey/", ending)
    assert not ProviderKey.objects.active().filter(owner=alice).exists()
