"""A figure with its interval, as the API says it."""

from typing import Any

from rest_framework import serializers


class FigureOfCycles(serializers.Serializer[Any]):
    """value: null with the reason why there is none. low, high: the 95 % interval, or `no_interval` says why there is
    none. units: how many it rests on; cycles: from how many cycles.
    """

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    no_interval = serializers.CharField(allow_blank=True)
    units = serializers.IntegerField()
    cycles = serializers.IntegerField()
