"""The forms of notes and saved views; their verbs say what is wrong with them."""

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.library.shelves.noting import LONGEST_NOTE
from experiments.library.shelves.viewing import LONGEST_NAME


class NoteForm(forms.Form):
    text = forms.CharField(
        label=_("Note"), max_length=LONGEST_NOTE, widget=forms.Textarea(attrs={"rows": 5, "autocomplete": "off"})
    )
    shared = forms.BooleanField(label=_("Everybody who may see this run reads it"), required=False)


class ViewForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=LONGEST_NAME)
    query = forms.CharField(required=False, widget=forms.HiddenInput)
    project = forms.CharField(required=False)
    is_default = forms.BooleanField(label=_("Show it first when I open the runs"), required=False)
