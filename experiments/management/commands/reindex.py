"""`manage.py reindex`: the words by which transcripts are found, written anew; runs may be live meanwhile."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from experiments.library.search import indexing

REBUILD = "INSERT INTO experiments_passage_words (experiments_passage_words) VALUES ('rebuild')"


class Command(BaseCommand):
    help = "Index all titles, prompts, messages and notes for the search again. Runs may go on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--missing", action="store_true", help="only what is not indexed at all; much faster")

    def handle(self, *args: Any, **options: Any) -> None:
        count = indexing.everything(only_missing=options["missing"])
        count += 0 if options["missing"] else sum(index() for index in indexing.OTHERS)
        if connection.vendor == "sqlite" and not options["missing"]:
            with connection.cursor() as cursor:
                cursor.execute(REBUILD)
        self.stdout.write(f"{count} texts are indexed.")
