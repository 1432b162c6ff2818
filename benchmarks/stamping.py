"""A provider for measurements: each token is the moment it was sent, so that a viewer knows how old it is.

`python -m benchmarks.stamping PORT TOKENS_PER_SECOND TOKENS [EVERY]` serves POST /v1/chat/completions on loopback; with
EVERY, only every so many tokens are such a moment, and the others are words of the usual length.
"""

import asyncio
import json
import sys
import time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BEFORE = b'data: {"id":"s","model":"stamping","choices":[{"index":0,"delta":{"content":"'
AFTER = b'"},"finish_reason":null}]}\n\n'
WORD = b"word "


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def ending(tokens: int) -> bytes:
    finish = {"id": "s", "model": "stamping", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"id": "s", "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": tokens}}
    frames = [f"data: {json.dumps(frame)}\n\n".encode() for frame in (finish, usage)]
    return b"".join(map(chunk, [*frames, b"data: [DONE]\n\n"])) + b"0\r\n\r\n"


class Stamping:
    """Serves one connection after the other request on it, at the pace it was started with."""

    def __init__(self, rate: float, tokens: int, every: int = 1) -> None:
        self.pause, self.tokens, self.every = 1 / rate, tokens, every

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(_body_length(head))
                await self._answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        begun = time.monotonic()
        for number in range(self.tokens):
            await asyncio.sleep(max(0, begun + number * self.pause - time.monotonic()))
            token = WORD if number % self.every else b"%.4f " % time.monotonic()
            writer.write(chunk(BEFORE + token + AFTER))
            await writer.drain()
        writer.write(ending(self.tokens))
        await writer.drain()


def _body_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def main(port: int, rate: float, tokens: int, every: int = 1) -> None:
    server = await asyncio.start_server(Stamping(rate, tokens, every).serve, "127.0.0.1", port, backlog=2048)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:])))
