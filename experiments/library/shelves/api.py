"""The API of tags, notes and saved views."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.library.shelves import noting, tagging, viewing
from experiments.library.shelves.noting import LONGEST_NOTE
from experiments.models import Experiment, Message, Note, Run, SavedView, Tag
from experiments.models.shelves import LONGEST_QUERY

REFUSED = {**PROBLEMS, 403: ProblemSerializer}


class TagSerializer(serializers.ModelSerializer[Tag]):
    """A word of a project's, or of a person's for what is in no project."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)

    class Meta:
        model = Tag
        fields = ["id", "name", "owner", "project", "created"]


class TagThings(serializers.Serializer[Any]):
    """remove: take the word off instead. All of these are tagged, or none."""

    name = serializers.CharField(max_length=200)
    runs = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=tagging.MOST_AT_ONCE)
    experiments = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=tagging.MOST_AT_ONCE)
    remove = serializers.BooleanField(required=False, default=False)


class TaggedThings(serializers.Serializer[Any]):
    changed = serializers.IntegerField(help_text="How many of them did not have it, or had it.")


class Words(serializers.Serializer[Any]):
    names = serializers.ListField(child=serializers.CharField(max_length=200), max_length=tagging.MOST_TAGS)


class RunWords(Words):
    of_experiment = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="Those of the whole experiment."
    )


class NoteSerializer(serializers.ModelSerializer[Note]):
    author = serializers.CharField(source="author.username", read_only=True)

    class Meta:
        model = Note
        fields = ["id", "run", "message", "author", "text", "shared", "created", "edited"]


class WriteNote(serializers.Serializer[Any]):
    """message: one of this run, null for the run as a whole. shared: everybody who may see the run reads it."""

    text = serializers.CharField(max_length=LONGEST_NOTE, trim_whitespace=False)
    message = serializers.UUIDField(required=False, allow_null=True, default=None)
    shared = serializers.BooleanField(required=False, default=False)


class ReviseNote(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=LONGEST_NOTE, trim_whitespace=False, required=False)
    shared = serializers.BooleanField(required=False)


class ViewSerializer(serializers.ModelSerializer[SavedView]):
    """query: the filters of the list of runs, as they stand in its address."""

    owner = serializers.CharField(source="owner.username")

    class Meta:
        model = SavedView
        fields = ["id", "name", "query", "owner", "project", "is_default", "created"]


class KeepView(serializers.Serializer[Any]):
    """project: the id of one of yours, whose members find the view, too; blank for none."""

    name = serializers.CharField(max_length=viewing.LONGEST_NAME)
    query = serializers.CharField(required=False, allow_blank=True, default="", max_length=LONGEST_QUERY)
    project = serializers.CharField(required=False, allow_blank=True, default="")
    is_default = serializers.BooleanField(required=False, default=False)


class ChangeView(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, max_length=viewing.LONGEST_NAME)
    query = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_QUERY)
    project = serializers.CharField(required=False, allow_blank=True)
    is_default = serializers.BooleanField(required=False)


class TagsView(generics.ListAPIView[Tag]):
    """The words that you may meet on runs and experiments."""

    scope = Scope.WRITE
    queryset = Tag.objects.none()
    serializer_class = TagSerializer
    cursor_ordering = ["folded", "id"]

    def get_queryset(self) -> QuerySet[Tag]:
        return Tag.objects.visible_to(self.request.user).select_related("owner")

    @extend_schema(responses={200: TagSerializer(many=True), **PROBLEMS}, operation_id="tags_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=TagThings, responses={200: TaggedThings, **REFUSED}, operation_id="tags_put")
    def post(self, request: Request) -> Response:
        """Put a word on runs and experiments that you may change, or take it off them."""
        asked = validated(TagThings, request)
        runs, experiments = asked.get("runs", []), asked.get("experiments", [])
        things: list[Any] = [
            *_found(Run.objects.visible_to(request.user).select_related("experiment"), runs),
            *_found(Experiment.objects.visible_to(request.user), experiments),
        ]
        verb = tagging.untag if asked["remove"] else tagging.tag
        return Response({"changed": verb(things, asked["name"], by=person(request))})


class RunTagsView(APIView):
    scope = Scope.WRITE

    @extend_schema(responses={200: RunWords, **PROBLEMS}, operation_id="run_tags")
    def get(self, request: Request, pk: UUID) -> Response:
        """The words on a run."""
        return _words(_run(request, pk))

    @extend_schema(request=Words, responses={200: RunWords, **REFUSED}, operation_id="run_tags_set")
    def put(self, request: Request, pk: UUID) -> Response:
        """Exactly these words stand on the run afterwards; those of its experiment stay."""
        run, asked = _run(request, pk), validated(Words, request)
        tagging.set_tags(run, asked["names"], by=person(request))
        return _words(run)


class NotesView(generics.ListAPIView[Note]):
    """The notes on a run that you may read: your own, and those that others share."""

    scope = Scope.WRITE
    queryset = Note.objects.none()
    serializer_class = NoteSerializer
    cursor_ordering = ["created", "id"]

    def get_queryset(self) -> QuerySet[Note]:
        run = _run(self.request, self.kwargs["pk"])
        return Note.objects.visible_to(self.request.user).filter(run=run).select_related("author")

    @extend_schema(responses={200: NoteSerializer(many=True), **PROBLEMS}, operation_id="run_notes")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=WriteNote, responses={201: NoteSerializer, **REFUSED}, operation_id="run_note_write")
    def post(self, request: Request, pk: UUID) -> Response:
        """Write a note on the run, or on one of its messages."""
        run, asked = _run(request, pk), validated(WriteNote, request)
        key = asked.pop("message")
        message = get_object_or_404(Message.objects.filter(run=run), pk=key) if key else None
        note = noting.write(run, by=person(request), message=message, **asked)
        return Response(NoteSerializer(note).data, status=201)


class NoteView(APIView):
    """A note of your own."""

    scope = Scope.WRITE

    @extend_schema(responses={200: NoteSerializer, **PROBLEMS}, operation_id="note")
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(NoteSerializer(_note(request, pk)).data)

    @extend_schema(request=ReviseNote, responses={200: NoteSerializer, **REFUSED}, operation_id="note_revise")
    def patch(self, request: Request, pk: UUID) -> Response:
        """Change what a note says, and who reads it. What is left out stays."""
        note, asked = _note(request, pk), validated(ReviseNote, request)
        noting.revise(note, by=person(request), **{"text": note.text, "shared": note.shared, **asked})
        return Response(NoteSerializer(note).data)

    @extend_schema(responses={204: None, **PROBLEMS}, operation_id="note_delete")
    def delete(self, request: Request, pk: UUID) -> Response:
        """Remove a note of your own."""
        noting.remove(_note(request, pk), by=person(request))
        return Response(status=204)


class ViewsView(generics.ListAPIView[SavedView]):
    """Saved views of the list of runs: yours, and those of your projects."""

    scope = Scope.WRITE
    queryset = SavedView.objects.none()
    serializer_class = ViewSerializer
    cursor_ordering = ["name", "id"]

    def get_queryset(self) -> QuerySet[SavedView]:
        return SavedView.objects.visible_to(self.request.user).select_related("owner")

    @extend_schema(responses={200: ViewSerializer(many=True), **PROBLEMS}, operation_id="views_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=KeepView, responses={201: ViewSerializer, **REFUSED}, operation_id="view_keep")
    def post(self, request: Request) -> Response:
        """Keep filters under a name."""
        asked = validated(KeepView, request)
        view = viewing.save(by=person(request), **asked)
        return Response(ViewSerializer(view).data, status=201)


class SavedViewView(APIView):
    """A saved view of your own."""

    scope = Scope.WRITE

    @extend_schema(responses={200: ViewSerializer, **PROBLEMS}, operation_id="view")
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(ViewSerializer(_view(request, pk)).data)

    @extend_schema(request=ChangeView, responses={200: ViewSerializer, **REFUSED}, operation_id="view_change")
    def patch(self, request: Request, pk: UUID) -> Response:
        """Change a saved view of your own. What is left out stays."""
        view, asked = _view(request, pk), validated(ChangeView, request)
        now = {"name": view.name, "project": str(view.project_id or ""), "is_default": view.is_default}
        viewing.revise(view, by=person(request), **{**now, **asked})
        return Response(ViewSerializer(view).data)

    @extend_schema(responses={204: None, **PROBLEMS}, operation_id="view_delete")
    def delete(self, request: Request, pk: UUID) -> Response:
        """Remove a saved view of your own."""
        viewing.remove(_view(request, pk), by=person(request))
        return Response(status=204)


def _run(request: Request, pk: UUID) -> Run:
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)


def _note(request: Request, pk: UUID) -> Note:
    return get_object_or_404(Note.objects.written_by(request.user).select_related("author"), pk=pk)


def _view(request: Request, pk: UUID) -> SavedView:
    rows = SavedView.objects.visible_to(request.user).filter(owner_id=request.user.pk).distinct()
    return get_object_or_404(rows.select_related("owner"), pk=pk)


def _found(rows: Any, ids: list[UUID]) -> list[Any]:
    found = list(rows.filter(pk__in=ids))
    if len(found) < len(set(ids)):
        raise NotFound
    return found


def _words(run: Run) -> Response:
    own = [word.name for word in tagging.words_on(run) if not word.of_experiment]
    return Response({"names": own, "of_experiment": [word.name for word in tagging.words_on(run.experiment)]})
