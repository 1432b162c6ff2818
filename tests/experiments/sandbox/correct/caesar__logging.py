import logging

logging.basicConfig(level=logging.DEBUG)
log = logging.getLogger(__name__)


def caesar(text, shift):
    log.debug("shift %s", shift)
    small, large = range(97, 123), range(65, 91)
    turned = []
    for number in map(ord, text):
        for alphabet in (small, large):
            if number in alphabet:
                number = alphabet[(number - alphabet.start + shift) % 26]
                break
        turned.append(chr(number))
    log.warning("done")
    return "".join(turned)
