"""Texts made to hang or to break a reader: what is nested, opened and not closed, repeated without end."""

from collections.abc import Callable, Iterable

LENGTH = 100_000  # bytes
SHAPES: dict[str, Callable[[bytes, int], bytes]] = {
    "repeated": lambda piece, length: piece * (length // len(piece)),
    "in a JSON text": lambda piece, length: b'{"points": "' + piece * ((length - 14) // len(piece)) + b'"}',
    "in braces": lambda piece, length: b'{"points": ' + piece * ((length - 12) // len(piece)) + b"}",
}
PIECES = (
    b"{", b"[", b"[{", b'{"a":', b'{"points": [', b"}", b"]", b"[]{}", b'"', b'\\"', b'{"', b"'", b"\\'", b"\\",
    b"\\\\", b", ", b",", b":", b"//", b"/*", b"/*/", b"a:", b"a ", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\n\n",
    b" \n", b"`", b"``` ", b"```\n", b"```json\n{", b"~~~\n", b"<think>", b"</think>", b"<think></think>", b"<", b"</",
    b"<|", b"[REASONING]", b"data: x\n", b"data: x\n\n", b"data:\n\n", b": \n\n", b"event: a\n", b"\xef\xbb\xbf",
    b"\xff", b"\x00", b"\xed\xa0\x80", b"1", b"9", b"-", b"1e9", b"0.", b"*", b"**a", b"_", b"> ", b">", b"- ", b"1. ",
    b"|", b"|a|\n", b"#", b"[a](", b"![", b"[a]: b\n", b"&", b"&#", b"<a", b"<!--", b"~", b"a*", b"](", b"[[", b"\\`",
    b"www.", b"a@", b"$", b"FINAL RANKING:\n", b". FINAL RANKING:", b"1. Response A\n", b"Response A ", b"A > ",
    b"A = ", b"Response A is ", b"better than Response B ", b"Image A is clearly ", b"not ", b"winner", b"I am ",
    b"as an ai, ", b"ignore all other ", "漢".encode(), "議会".encode(), "ﷺ".encode(), "\u0301".encode(), "“".encode(),
    "🥇".encode(), "\u2028".encode(), b"x", b"xxx", "…".encode(), "•".encode(), b"sk-", b"sk-live-0123", b"%73",
    b"&#115;", b"\\u0073", b"Bearer ", b"key ", b"a,", b'"a",', b'"",', b"a;b\n", b"1,2\n", b'"\n', b'a"b,', b"a\tb\n",
    b"invalid api ", b"model ", b"prompt ", b"//@", b"a a a a a a b ", b"-seat:", b'"a', b"(", b")", b"=", b"A", b"B",
    b"AB ", b".", b"!", b"0", b"00:00 ",
)  # fmt: skip


TELLING = (b'\\"', b"\\'", b'{"', b"[[", b"<think>", b"a*", b"A > ")  # for which a square was easily come by


def inputs(length: int = LENGTH) -> dict[str, bytes]:
    """By a name that says how each is made."""
    return made(PIECES, SHAPES, length) | composed(length)


def telling(length: int = LENGTH) -> dict[str, bytes]:
    """Few of them, for a quick look."""
    return made(TELLING, ("repeated", "in braces"), length)


def made(pieces: Iterable[bytes], shapes: Iterable[str], length: int) -> dict[str, bytes]:
    return {f"{piece!r} {shape}": SHAPES[shape](piece, length) for piece in pieces for shape in shapes}


def composed(length: int = LENGTH) -> dict[str, bytes]:
    """What no repetition of one piece is."""
    half = length // 2
    names = b",".join(b'"%d":0' % number for number in range(length // 10))
    return {
        "lists in lists, closed": b"[" * half + b"]" * half,
        "objects in objects, closed": b'{"a":' * (length // 6) + b"1" + b"}" * (length // 6),
        "many names, one of them twice": b"{" + names + b',"z":1,"z":2}',
        "many names in an object of their own": b'{"points":{' + names + b"}}",
        "a number of 100,000 digits": b"9" * length,
        "a code of an error that goes on": b'{"error":{"code":"0429' + b"9" * length + b'","message":"x"}}',
        "a phrase that nearly fits everywhere": b'"' + b"a " * 120 + b'b"\n' + b"a " * half,
        "thinking that is not closed": b"<think>" + b"a </thin" * (length // 8),
        "white space before the answer": b" " * length + b'{"points": 1}',
        "a line in steps of the same name": b'{"messages":['
        + b'{"role":"tool","content":"x"},' * (length // 30)
        + b"{}]}",
        "a table of one column and many commas": b"index,prompt\n" + b"," * length,
        "a quoted field that is not closed": b'index,prompt\n0,"' + b"a\n" * half,
        "a header of 50,000 columns": b"a," * half + b"\n",
    }


def repeated(data: bytes, length: int = LENGTH) -> bytes:
    """An input that was found, as often as it fits."""
    return data * max(1, length // max(len(data), 1))
