"""Planted keys, and whatever would give one of them away."""

import base64
import json
import urllib.parse

OF_LAB, OF_ALICE = "sk-canary-7f3a9c55e1d24b08", "canary/9b+2d0c=6e4f81a7"
KEYS = [OF_LAB, OF_ALICE]


def forms(key):
    """The key in every way in which a reader could restore it."""
    bearer = f"Bearer {key}"
    yield from (key, bearer, urllib.parse.quote(key, safe=""), urllib.parse.quote(urllib.parse.quote(key, safe="")))
    yield "".join(f"%{ord(letter):02X}" for letter in key)
    yield "".join(f"\\u{ord(letter):04x}" for letter in key)
    yield json.dumps(json.dumps({"k": key}))
    yield key.encode().hex()
    for text in (key, bearer, f":{key}", f"x:{key}", json.dumps({"authorization": bearer})):
        encoded = base64.b64encode(text.encode()).decode()
        yield from (encoded, encoded.rstrip("="), base64.urlsafe_b64encode(text.encode()).decode().rstrip("="))


def traces(key):
    """What gives it away: the longer part of any form of it."""
    return {key, key[:14], key[-12:], *(form[4:24] for form in list(forms(key))[2:8])}


def found_in(text):
    return [trace for key in KEYS for trace in traces(key) if trace in text]


def said_by_a_hostile_provider(scripted, key):
    """Models by what they do with the key that they are asked with."""
    half = len(key) // 2
    spelled = [{"content": letter} for letter in key]
    yield "splits", ["My key is ", key[:half], key[half:], ". Bye."]
    yield "spells", [*spelled, " is it."]
    yield "thinks", [{"reasoning": f"the key {key[:5]}"}, {"reasoning": key[5:]}, "Done."]
    yield "encodes", [base64.b64encode(f"Bearer {key}".encode()).decode(), " and more"]
