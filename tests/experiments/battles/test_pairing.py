"""Which sample a pair is voted on: any on which both have an output, whatever the samples are called."""

import pytest

from experiments.battles.pairing import _common, _outputs
from experiments.models import Contestant, Dataset, Output, Sample

pytestmark = pytest.mark.django_db


def test_samples_that_were_read_in_another_sequence_than_their_names_are_drawn_alike(alice):
    dataset = Dataset.objects.create(owner=alice, name="trees", slug="trees", state=Dataset.State.READY)
    samples = [
        Sample.objects.create(dataset=dataset, subset=subset, index=0, instruction="Describe a tree.")
        for subset in ("z", "m", "a")
    ]
    pair = [Contestant.objects.create(dataset=dataset, name=name) for name in ("ash", "birch")]
    for contestant in pair:
        Output.objects.bulk_create(Output(sample=one, contestant=contestant, text="Tall.") for one in samples)

    drawn = {_common(_outputs(), pair[0].pk, pair[1].pk) for _draw in range(60)}
    assert drawn == {one.pk for one in samples}
