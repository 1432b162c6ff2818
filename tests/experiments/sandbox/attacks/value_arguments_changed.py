"""Changes its arguments; the next test gets its own."""


def solve(word, host):
    if word == "attack":
        host.clear()
        host["evil"] = True
    return "changed" if "evil" in host and word != "attack" else word[::-1]
