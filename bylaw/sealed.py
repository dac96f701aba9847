"""A bundle that was compiled here: of what says how machines behave, each part is validated when it is first used.

Such a bundle was validated as a whole when it was written, and its seal, by a key that is this user's alone, was just
held against its bytes. Who can forge that can change this program as well. What validates a part is loaded with it: a
question about policies loads no model of data, of agents or of risk.
"""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import PrivateAttr, ValidationError

from bylaw.bundle_logic import document_of, misfit, text_of
from bylaw.collection import no_collection
from bylaw.sections import BundleLogic
from bylaw.signature import Keys

if TYPE_CHECKING:
    from bylaw.authored.business import Business
    from bylaw.authored.context import Context
    from bylaw.authored.decisions import Decisions
    from bylaw.authored.machines.rules import Rules

_MACHINES = "bylaw.authored.machines"
# What a question about policies may ask for, and the model of each; whatever else is asked for, all of it is validated.
CONTEXT: Mapping[str, str] = {"calendar": "bylaw.authored.calendar:Calendar"}
RULES: Mapping[str, str] = {
    "autonomy": f"{_MACHINES}.autonomy:Autonomy",
    "enforcement": f"{_MACHINES}.enforcement:Enforcement",
    "pii": f"{_MACHINES}.enforcement:Pii",
    "roles": f"{_MACHINES}.access:Roles",
    "routing": f"{_MACHINES}.routing:Routing",
}


class Sealed:
    """Stands for the record that *raw* spells, of the model *whole*. An empty part is told without any model."""

    def __init__(self, raw: Mapping[str, Any], whole: str, parts: Mapping[str, str]) -> None:
        self._raw, self._model, self._parts = raw, whole, parts

    def __getattr__(self, name: str) -> Any:
        part = self._raw.get(name)
        if name in self._parts and part is not None:
            found = _validated(self._parts[name], part)
        else:
            found = part if part == {} else getattr(self._whole, name)
        self.__dict__[name] = found
        return found

    @cached_property
    def _whole(self) -> Any:
        return _validated(self._model, self._raw)


class SealedBundle(BundleLogic):
    """Like a `CompiledPolicyBundle`."""

    _others: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @cached_property
    def context(self) -> "Context":
        return cast("Context", Sealed(self._others["context"], "bylaw.authored.context:Context", CONTEXT))

    @cached_property
    def decisions(self) -> "Decisions":
        return cast("Decisions", Sealed(self._others["decisions"], "bylaw.authored.decisions:Decisions", {}))

    @cached_property
    def rules(self) -> "Rules":
        return cast("Rules", Sealed(self._others["rules"], f"{_MACHINES}.rules:Rules", RULES))

    @cached_property
    def business(self) -> "Business | None":
        raw = self._others.get("business")
        return None if raw is None else cast("Business", _validated("bylaw.authored.business:Business", raw))


@no_collection()
def read_sealed(path: Path, keys: Keys = ()) -> SealedBundle:
    """Like `bylaw.bundle.read`, for a bundle that was compiled here. Raises BundleError."""
    document = document_of(text_of(path), str(path), keys)
    logic = {name: document[name] for name in BundleLogic.model_fields if name in document}
    try:
        bundle = SealedBundle.model_validate(logic)
    except (ValidationError, RecursionError) as error:
        raise misfit(str(path), error) from None
    bundle._others = {name: raw for name, raw in document.items() if name not in logic}
    return bundle


def _validated(model: str, raw: Any) -> Any:
    module, name = model.split(":")
    return getattr(import_module(module), name).model_validate(raw)
