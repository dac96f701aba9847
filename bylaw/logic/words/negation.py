"""The opposite of a clause in English: `has a receipt` becomes `does not have a receipt`.

A clause whose verb is not found here is quoted and denied as a whole, which is always right: `“late again” is no`.
_words("""

from __future__ import annotations

import re


def _words(text: str) -> list[str]:
    return text.split()


# The verbs that labels of a yes or no are made of, by their base form.
_REGULAR = frozenset(
    _words(
        """
    accept agree allow apply approve arrive ask attend belong book call cancel carry change check claim clean close
    complain complete concern confirm consent contain cover damage declare deliver depend earn end exceed exist
    expire fail fit follow happen help identify include involve join last like live manage match move need notify
    occur offer open order own pass pick plan play prepare print provide qualify reach receive refund refuse
    register remain remove renew rent repair replace report request require return save schedule serve ship sign
    smoke start stay stop study submit supply survive talk train transfer travel use verify visit wait want warn
    work
    """
    )
)
_IRREGULAR = dict(
    pair.split(":")
    for pair in _words(
        """
    be:been break:broken bring:brought build:built buy:bought choose:chosen come:come do:done drive:driven eat:eaten
    fall:fallen feel:felt find:found get:got give:given go:gone have:had hold:held keep:kept know:known leave:left
    lend:lent lose:lost make:made mean:meant meet:met pay:paid prove:proven read:read ride:ridden run:run say:said
    see:seen sell:sold send:sent show:shown sit:sat sleep:slept speak:spoken spend:spent stand:stood steal:stolen
    take:taken teach:taught tell:told think:thought understand:understood wear:worn win:won write:written
    """
    )
)  # base form: participle
_VERBS = _REGULAR | _IRREGULAR.keys()
_PARTICIPLES = frozenset(_IRREGULAR.values())
_AUXILIARIES = {
    **{verb: f"{verb} not" for verb in ("is", "are", "was", "were", "will", "must", "may", "should", "would", "could")},
    "can": "cannot",
}
_HAVE = {"has": "does not have", "have": "do not have"}
_THERE = re.compile(r"(there (?:is|are|was|were)) (?:an? |some |any )?(?!not\b|no\b)", re.IGNORECASE)
# Behind one of these another clause begins, whose verb is not that of the whole.
_SUBORDINATE = frozenset(
    _words("that which who whom whose what if when whether because since while although unless until where")
)
_BEFORE_A_NOUN = frozenset(
    _words("a an the my your his her its our their this that these those no any some every each")
)
_BEHIND_A_VERB = _BEFORE_A_NOUN | frozenset(
    _words(
        """
    it them me us another more less only all to with at in on from by for about after before within up out away
    back again late early yet still already not
    """
    )
)
# Joined, more than one thing is said; and what is denied is not denied again.
_JOINING = frozenset(_words("and or but not no never neither nor"))
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def negate_clause(clause: str) -> str:
    """What is said where *clause* does not hold."""
    found = list(_WORD.finditer(clause))
    words = [word[0].lower() for word in found]
    if (there := _THERE.match(clause)) and not _JOINING & set(words):
        return f"{there[1]} no {clause[there.end() :]}"
    verb = None if _JOINING & set(words) else _verb_of(words)
    if verb is not None:
        place, said = verb
        return f"{clause[: found[place].start()]}{said}{clause[found[place].end() :]}"
    if len(words) == 1 or (words and _is_participle(words[0]) and not _JOINING & set(words)):
        return f"not {clause}"
    return f"“{clause}” is no"


def _verb_of(words: list[str]) -> tuple[int, str] | None:
    """The place of the verb of the main clause, and what is said instead of it; None where none is found."""
    end = next((i for i, word in enumerate(words) if i > 0 and word in _SUBORDINATE), len(words))
    for i, word in enumerate(words[:end]):
        if word in _HAVE:
            return i, _negate_have(word, words[i + 1 : i + 2])
        if word in _AUXILIARIES:
            return i, _AUXILIARIES[word]
    for i, word in enumerate(words[:end]):
        if (base := _base_of(word)) is not None and _is_verb_at(i, words):
            return i, f"does not {base}"
    return None


def is_clause(label: str) -> bool:
    """Does the label of a yes or no tell of somebody or something ("the rider is a member", not "has a receipt")?"""
    words = [word[0].lower() for word in _WORD.finditer(label)]
    verb = None if _JOINING & set(words) else _verb_of(words)
    return verb is not None and verb[0] > 0


def _negate_have(verb: str, after: list[str]) -> str:
    """`has completed the course` is past, `has a receipt` and `has to pay` are not."""
    is_past = bool(after) and (_is_participle(after[0]) or after[0] in ("already", "ever"))
    return f"{verb} not" if is_past else _HAVE[verb]


def _base_of(word: str) -> str | None:
    """`comes` is a form of `come`; None for what is no such form of a verb that is known."""
    for ending, base in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("oes", "o")):
        if word.endswith(ending) and word.removesuffix(ending) + base in _VERBS:
            return word.removesuffix(ending) + base
    base = word.removesuffix("s")
    return base if word.endswith("s") and base in _VERBS else None


def _is_verb_at(place: int, words: list[str]) -> bool:
    """Many a verb is a noun as well (`returns`, `orders`): what stands before and behind tells them apart."""
    after = words[place + 1 : place + 2]
    is_followed = not after or after[0] in _BEHIND_A_VERB
    return is_followed and (place == 0 or words[0] in _BEFORE_A_NOUN)


def _is_participle(word: str) -> bool:
    if word in _PARTICIPLES:
        return True
    if not word.endswith("ed"):
        return False
    stems = {word.removesuffix("ed"), word.removesuffix("d"), word.removesuffix("ied") + "y"}
    stems |= {stem[:-1] for stem in set(stems) if len(stem) > 2 and stem[-1] == stem[-2]}  # `planned`, `stopped`
    return bool(stems & _VERBS)
