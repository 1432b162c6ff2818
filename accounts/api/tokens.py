"""Tokens over HTTP: one's own. A token gives no more than it has, and nothing that outlives it."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import tokens
from accounts.api_requests import person, validated
from accounts.models import ApiToken
from accounts.permissions import GRAVE
from accounts.scopes import Scope
from accounts.tokens import DEFAULT_DAYS, LONGEST_NAME, MOST_DAYS


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """id: what it begins with. last_used: to the minute; null for never. expires: null for never."""

    id = serializers.CharField(source="token_key", read_only=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices))
    expires = serializers.DateTimeField(source="expiry", allow_null=True)

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scopes", "created", "expires", "last_used", "last_address"]


class NewTokenSerializer(TokenSerializer):
    """token: the only copy there is."""

    token = serializers.CharField()

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class CreateToken(serializers.Serializer[Any]):
    """name: what it is for."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    days = serializers.IntegerField(required=False, default=DEFAULT_DAYS, min_value=1, max_value=MOST_DAYS)
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices), min_length=1, max_length=len(Scope))


class TokensView(generics.ListAPIView[ApiToken]):
    scope = Scope.ADMIN
    permission_classes = GRAVE
    queryset = ApiToken.objects.none()
    serializer_class = TokenSerializer
    cursor_ordering = ["-created", "digest"]

    def get_queryset(self) -> QuerySet[ApiToken]:
        found: QuerySet[ApiToken] = ApiToken.objects.filter(user_id=self.request.user.pk)
        return found

    @extend_schema(responses={200: TokenSerializer(many=True)})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Your API tokens, with what each may do and when it was last used."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=CreateToken, responses={201: NewTokenSerializer})
    def post(self, request: Request) -> Response:
        """Create a token. Asked for with a token, it has no scope that it lacks, and ends with it at the latest."""
        asked = validated(CreateToken, request)
        by = request.auth if isinstance(request.auth, ApiToken) else None
        row, text = tokens.new_token(person(request), by=by, **asked)
        return Response({**TokenSerializer(row).data, "token": text}, status=201, headers={"Cache-Control": "no-store"})


class TokenView(APIView):
    scope = Scope.ADMIN
    permission_classes = GRAVE

    @extend_schema(responses={200: TokenSerializer})
    def get(self, request: Request, token_key: str) -> Response:
        """One of your tokens: what it may do, and when it was last used."""
        return Response(TokenSerializer(_token(request, token_key)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, token_key: str) -> Response:
        """Revoke a token: whoever uses it is locked out at once."""
        tokens.revoke_token(_token(request, token_key), by=person(request))
        return Response(status=204)


def _token(request: Request, token_key: str) -> ApiToken:
    found: ApiToken = get_object_or_404(ApiToken, user_id=request.user.pk, token_key=token_key)
    return found
