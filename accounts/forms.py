from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.tokens import DEFAULT_DAYS, MOST_DAYS


class TokenForm(forms.Form):
    name = forms.CharField(label=_("What is it for?"), max_length=100)
    days = forms.IntegerField(label=_("Valid for days"), min_value=1, max_value=MOST_DAYS, initial=DEFAULT_DAYS)
