import django
from daphne import server
from daphne.cli import CommandLineInterface

from arenasite.server.http import Factory
from arenasite.server.process import WebServer
from arenasite.server.websockets import SocketFactory


class Interface(CommandLineInterface):  # type: ignore[misc]  # daphne and twisted have no types
    server_class = WebServer


if __name__ == "__main__":
    django.setup()
    server.HTTPFactory, server.WebSocketFactory = Factory, SocketFactory
    Interface.entrypoint()
