"""The API of tags, notes, favorites and saved views."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet, ViewSet

from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.library.annotations import favorites, notes, saved_views, tags
from experiments.models import Experiment, Favorite, Message, Note, Run, SavedView, Tag
from experiments.models.library import LONGEST_KEY, LONGEST_QUERY


class TagSerializer(serializers.ModelSerializer[Tag]):
    """A word of a project's, or of a person's for what is in no project."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)

    class Meta:
        model = Tag
        fields = ["id", "name", "owner", "project", "created"]


class TagThings(serializers.Serializer[Any]):
    """remove: remove the tag instead. Applies to all of these or to none."""

    name = serializers.CharField(max_length=200)
    runs = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=tags.MOST_AT_ONCE)
    experiments = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=tags.MOST_AT_ONCE)
    remove = serializers.BooleanField(required=False, default=False)


class TaggedThings(serializers.Serializer[Any]):
    changed = serializers.IntegerField(help_text="How many of them did not have it, or had it.")


class Words(serializers.Serializer[Any]):
    names = serializers.ListField(child=serializers.CharField(max_length=200), max_length=tags.MOST_TAGS)


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

    text = serializers.CharField(max_length=notes.LONGEST_NOTE, trim_whitespace=False)
    message = serializers.UUIDField(required=False, allow_null=True, default=None)
    shared = serializers.BooleanField(required=False, default=False)


class ReviseNote(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=notes.LONGEST_NOTE, trim_whitespace=False, required=False)
    shared = serializers.BooleanField(required=False)


class FavoriteSerializer(serializers.ModelSerializer[Favorite]):
    """key: the id of a run, the slug of a board, or the name of a contestant."""

    class Meta:
        model = Favorite
        fields = ["id", "kind", "key", "created"]


class MarkFavorite(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=Favorite.Kind.choices)
    key = serializers.CharField(max_length=LONGEST_KEY)


class ViewSerializer(serializers.ModelSerializer[SavedView]):
    """query: the filters of the list of runs, as in its address."""

    owner = serializers.CharField(source="owner.username")

    class Meta:
        model = SavedView
        fields = ["id", "name", "query", "owner", "project", "is_default", "created"]


class KeepView(serializers.Serializer[Any]):
    """project: the id of one of yours, whose members see the view; blank for none."""

    name = serializers.CharField(max_length=saved_views.LONGEST_NAME)
    query = serializers.CharField(required=False, allow_blank=True, default="", max_length=LONGEST_QUERY)
    project = serializers.CharField(required=False, allow_blank=True, default="")
    is_default = serializers.BooleanField(required=False, default=False)


class ChangeView(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, max_length=saved_views.LONGEST_NAME)
    query = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_QUERY)
    project = serializers.CharField(required=False, allow_blank=True)
    is_default = serializers.BooleanField(required=False)


class TagViewSet(GenericViewSet[Tag]):
    scope = Scope.WRITE
    serializer_class = TagSerializer
    cursor_ordering = ["folded", "id"]

    def get_queryset(self) -> QuerySet[Tag]:
        return Tag.objects.visible_to(self.request.user).select_related("owner")

    @extend_schema(responses={200: TagSerializer(many=True), **PROBLEMS}, operation_id="tags_list")
    def list(self, request: Request) -> Response:
        """Tags on runs and experiments that you can see."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(TagSerializer(page or [], many=True).data)

    @extend_schema(request=TagThings, responses={200: TaggedThings, **PROBLEMS}, operation_id="tags_put")
    def put_on(self, request: Request) -> Response:
        """Add a tag to runs and experiments that you can change, or remove it."""
        asked = validated(TagThings, request)
        things: list[Any] = []
        runs = Run.objects.visible_to(request.user).select_related("experiment")
        for rows, name in ((runs, "runs"), (Experiment.objects.visible_to(request.user), "experiments")):
            found = rows.filter(pk__in=asked.get(name, []))
            if len(found) < len(set(asked.get(name, []))):
                raise NotFound
            things += found
        verb = tags.untag if asked["remove"] else tags.tag
        return Response({"changed": verb(things, asked["name"], by=person(request))})


class RunTagViewSet(ViewSet):
    scope = Scope.WRITE

    @extend_schema(responses={200: RunWords, **PROBLEMS}, operation_id="run_tags")
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """The tags of a run."""
        return self._words(_run(request, pk))

    @extend_schema(request=Words, responses={200: RunWords, **PROBLEMS}, operation_id="run_tags_set")
    def update(self, request: Request, pk: UUID) -> Response:
        """Replace the tags of a run. Those of its experiment stay."""
        run, asked = _run(request, pk), validated(Words, request)
        tags.set_tags(run, asked["names"], by=person(request))
        return self._words(run)

    def _words(self, run: Run) -> Response:
        own = [word.name for word in tags.words_on(run) if not word.of_experiment]
        return Response({"names": own, "of_experiment": [word.name for word in tags.words_on(run.experiment)]})


class RunNoteViewSet(GenericViewSet[Note]):
    scope = Scope.WRITE
    queryset = Note.objects.none()
    serializer_class = NoteSerializer
    cursor_ordering = ["created", "id"]

    @extend_schema(responses={200: NoteSerializer(many=True), **PROBLEMS}, operation_id="run_notes")
    def list(self, request: Request, pk: UUID) -> Response:
        """The notes on a run: your own and shared ones."""
        rows = Note.objects.visible_to(request.user).filter(run=_run(request, pk)).select_related("author")
        return self.get_paginated_response(NoteSerializer(self.paginate_queryset(rows) or [], many=True).data)

    @extend_schema(request=WriteNote, responses={201: NoteSerializer, **PROBLEMS}, operation_id="run_note_write")
    def create(self, request: Request, pk: UUID) -> Response:
        """Write a note on the run, or on one of its messages."""
        run, asked = _run(request, pk), validated(WriteNote, request)
        key = asked.pop("message")
        message = get_object_or_404(Message.objects.filter(run=run), pk=key) if key else None
        note = notes.write(run, by=person(request), message=message, **asked)
        return Response(NoteSerializer(note).data, status=201)


class NoteViewSet(GenericViewSet[Note]):
    """A note of your own."""

    scope = Scope.WRITE
    serializer_class = NoteSerializer

    def get_queryset(self) -> QuerySet[Note]:
        return Note.objects.written_by(self.request.user).select_related("author")

    @extend_schema(responses={200: NoteSerializer, **PROBLEMS}, operation_id="note")
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(NoteSerializer(self.get_object()).data)

    @extend_schema(request=ReviseNote, responses={200: NoteSerializer, **PROBLEMS}, operation_id="note_revise")
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change a note's text or who can read it. Omitted fields stay unchanged."""
        note, asked = self.get_object(), validated(ReviseNote, request)
        notes.revise(note, by=person(request), **{"text": note.text, "shared": note.shared, **asked})
        return Response(NoteSerializer(note).data)

    @extend_schema(responses={204: None, **PROBLEMS}, operation_id="note_delete")
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a note of your own."""
        notes.remove(self.get_object(), by=person(request))
        return Response(status=204)


class FavoriteViewSet(GenericViewSet[Favorite]):
    scope = Scope.WRITE
    serializer_class = FavoriteSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[Favorite]:
        return Favorite.objects.of(self.request.user)

    @extend_schema(responses={200: FavoriteSerializer(many=True), **PROBLEMS}, operation_id="favorites_list")
    def list(self, request: Request) -> Response:
        """Runs, boards and contestants that you marked, the latest first."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(FavoriteSerializer(page or [], many=True).data)

    @extend_schema(request=MarkFavorite, responses={201: FavoriteSerializer, **PROBLEMS}, operation_id="favorite_mark")
    def create(self, request: Request) -> Response:
        """Mark a run, a board or a contestant. Nobody else sees it."""
        marked = favorites.mark(**validated(MarkFavorite, request), by=person(request))
        return Response(FavoriteSerializer(marked).data, status=201)

    @extend_schema(responses={204: None, **PROBLEMS}, operation_id="favorite_unmark")
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Remove one of your favorites."""
        one = self.get_object()
        favorites.unmark(one.kind, one.key, by=person(request))
        return Response(status=204)


class ViewViewSet(GenericViewSet[SavedView]):
    """A saved view of your own."""

    scope = Scope.WRITE
    serializer_class = ViewSerializer
    cursor_ordering = ["name", "id"]

    def get_queryset(self) -> QuerySet[SavedView]:
        return SavedView.objects.visible_to(self.request.user).select_related("owner")

    def _own(self, pk: UUID) -> SavedView:
        return get_object_or_404(self.get_queryset().distinct(), owner_id=self.request.user.pk, pk=pk)

    @extend_schema(responses={200: ViewSerializer(many=True), **PROBLEMS}, operation_id="views_list")
    def list(self, request: Request) -> Response:
        """Saved views of the list of runs: yours and those of your projects."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(ViewSerializer(page or [], many=True).data)

    @extend_schema(request=KeepView, responses={201: ViewSerializer, **PROBLEMS}, operation_id="view_keep")
    def create(self, request: Request) -> Response:
        """Save filters under a name."""
        view = saved_views.save(by=person(request), **validated(KeepView, request))
        return Response(ViewSerializer(view).data, status=201)

    @extend_schema(responses={200: ViewSerializer, **PROBLEMS}, operation_id="view")
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(ViewSerializer(self._own(pk)).data)

    @extend_schema(request=ChangeView, responses={200: ViewSerializer, **PROBLEMS}, operation_id="view_change")
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change a saved view of your own. Omitted fields stay unchanged."""
        view, asked = self._own(pk), validated(ChangeView, request)
        now = {"name": view.name, "project": str(view.project_id or ""), "is_default": view.is_default}
        saved_views.revise(view, by=person(request), **{**now, **asked})
        return Response(ViewSerializer(view).data)

    @extend_schema(responses={204: None, **PROBLEMS}, operation_id="view_delete")
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a saved view of your own."""
        saved_views.remove(self._own(pk), by=person(request))
        return Response(status=204)


def _run(request: Request, pk: UUID) -> Run:
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)
