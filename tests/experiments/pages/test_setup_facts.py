"""What a run's page says of its set-up, where the workflow has no page of its own for that."""

from experiments.setup.layout import facts


def test_rows_of_a_list_are_told_by_the_titles_of_their_fields_and_without_what_is_empty():
    rows = [{"kind": "note", "side": "B", "turn": 2, "text": "Be brief."}, {"kind": "note", "side": "", "turn": 3}]

    told = {one.name: one.text for one in facts("arena", {"interventions": rows, "counterbalance": True})}

    assert told["interventions"] == "Kind: note, Side: B, Turn: 2, Text: Be brief.\nKind: note, Turn: 3"
    assert "{" not in " ".join(told.values())


def test_of_a_workflow_that_is_not_installed_what_is_stored_is_told():
    [told] = facts("gone", {"stops": [{"town": "Rome", "nights": 2}], "empty": ""})

    assert (told.label, told.text) == ("stops", "town: Rome, nights: 2")
