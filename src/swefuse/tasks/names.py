"""Other names for local variables, so that one function is met under many."""

from __future__ import annotations

import random
import re

from swefuse.code import scope
from swefuse.code.functions import Source, function, local_names, valid_new_name
from swefuse.tasks.spec import FunctionSpec

_WORDS = {
    scope.NUMBER: """
        amount bound budget cap code cost count cursor degree delta depth duration edge factor floor gap height high
        index level limit low margin mark n offset outcome place point position power price quota rank rate ratio
        result scale score shift size slot span speed start step stop tally target threshold time top total turn units
        upper value volume weight width x y
    """,
    scope.TEXT: """
        answer body caption char chunk content field head key label letter line message name note part phrase piece
        prefix quote raw remark row_text segment sentence sign stem suffix symbol tail term text title token word
    """,
    scope.LIST: """
        answers batch blocks boxes cells chain chosen elements entries events items kept lines marks nodes numbers
        order out pairs parts path picked pieces points pool queue readings records results rows sample series slots
        stack steps things values words
    """,
    scope.DICT: """
        book buckets by_key cache chart counter found_at groups ledger links lookup mapping registry seen_at store
        table tallies
    """,
    scope.SET: """
        allowed blocked known marked members open_ones pending reached seen taken used visited
    """,
    scope.TUPLE: """
        bounds couple duo entry pair record row spot
    """,
    scope.FLAG: """
        active allowed done enabled flag found good is_set match okay ready strict valid
    """,
    scope.UNKNOWN: """
        a b candidate cell current element entry first item last left member node one other part piece previous right
        second subject thing this unit x y z
    """,
}
_LISTS = {kind: tuple(words.split()) for kind, words in _WORDS.items()}


def new_names(spec: FunctionSpec, rng: random.Random) -> dict[str, str]:
    """A new name for every local of the function, of a word that suits its type, colliding with nothing in the module."""
    node = function(Source(spec.text).tree, spec.name)
    types = scope.coarse_types(node)
    taken = set(re.findall(r"[A-Za-z_]\w*", spec.text))
    names: dict[str, str] = {}
    for local in local_names(node):
        words = [word for word in _LISTS[types.get(local, scope.UNKNOWN)] if valid_new_name(word, taken)]
        if local.strip("_") and words:
            names[local] = rng.choice(words)
            taken.add(names[local])
    return names
