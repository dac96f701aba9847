"""How a sentence says something: does it deny it, ask it, make it depend on a condition, or only speak of a wish?

Works on the normal forms of words. A negation reaches to the end of its clause, or to the next subject with a verb of
its own ("without the receipt you get…" denies nothing that you get).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from bot.enforcement.endings import end_of, is_meant
from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, CONJUNCTIONS, DETERMINERS, FUNCTION_WORDS, PRONOUNS, Word, stem_of

_VERBAL = listed("not never neither nor hardly barely nobody none")
_NOMINAL_REACH = 3  # words between "no" and what there is none of
_EMPTY = listed("way chance possibility right entitlement claim option longer case reason question basis")
_DENYING = listed(
    "impossible unavailable excluded forbidden prohibited refused refuse decline declined deny denied unable "
    "ineligible banned barred disallowed withheld withhold revoked exclude rejected inapplicable"
)
_RAISING = listed("think believe see expect mean suppose")
_TRUE = listed("true correct right case fact")  # "it is not true that you cannot …"
_UNTRUE = listed("false untrue wrong incorrect mistaken myth")  # "it is wrong that you cannot …"
GIVING = listed(
    "get receive give offer issue grant refund pay entitled eligible qualify possible available apply provide process "
    "approve arrange send credit obtain claim due return have back covered accept allow"
)
ACTS = listed(
    "reimburse wire transfer compensate waive cancel block lock unlock close terminate stop continue delete erase "
    "remove replace repair fix exchange swap ship keep sell share change hold freeze reopen "
    "extend reduce raise double halve"
)
_ACT_STEMS = frozenset(map(stem_of, ACTS))
_GIVING_STEMS = frozenset(map(stem_of, GIVING))
_SUBJECT_VERBS = AUXILIARIES | GIVING | listed("want need keep take bring lose lost contact call")
_ENDS = CONJUNCTIONS - {"or", "and", "since", "while"}
_RELATIVE = listed("that which who")
_NEXT = listed("if unless and or as because")  # what begins another statement behind the words
_INSTEAD = (("instead", "of"), ("rather", "than"), ("opposed", "to"), ("place", "of"))
_IF = listed("if unless provided providing whether suppose supposing assuming otherwise")
_HEDGES = listed(
    "would could might perhaps maybe possibly probably potentially likely depends depend depending knowing"
)
_KNOWING = listed("decide say tell know judge")  # "I cannot decide … without knowing …"
_IF_PAIRS = frozenset(
    {("as", "long"), ("in", "case"), ("on", "condition"), ("subject", "to"), ("even", "if"), ("so", "long")}
    | {("only", word) for word in ("for", "with", "within", "without", "when", "to", "in")}
)
_SCOPED = listed("for in with without")
_LIMITING = listed("within from until till after before above over under below")
_WISHES = listed("want ask asked request requested wish hope hoping hoped like wanted wondering expect expected demand")
_BUT = listed("but though although however only except")
_BARE = listed(
    "that this not no never so go going happen sadly unfortunately afraid option possibility case here now today true "
    "sorry alas anymore more any way chance longer at all the to for in your"
)
_RATHER = {("or", "rather"), ("or", "better"), ("make", "that"), ("scratch", "that"), ("correction",), ("pardon",)}
_PARTS = listed("half third quarter fraction portion partial partially partly part some most twice double triple")
_LESS = listed("minus deducting deduct deducted apart except excluding nothing zero")
_GENERAL = listed("never excluded exempt exempted nonrefundable ineligible")
_UNTIL = listed("once until till when whenever")
_BY_OFFICE = listed("may must can have need will should")  # "a manager has to approve it"
_CALLING = listed("by need ask")  # "you need a manager for that"
_YES = listed("yes sure certainly absolutely definitely yeah yep")
_EAGER = listed("of course thing gladly happily pleasure with problem worry happy glad help to")
_CALMING = listed("no not do to there be need worry problem trouble rush hurry please at all")
_WORRIES = listed("worry problem trouble rush hurry")
_SWAPPED = {"i": ("you",), "we": ("you", "we"), "you": ("we", "i")}
_OTHERS = ("it", "that", "they", "he", "she")
_GO_AHEAD = frozenset(("please do", "go ahead", "please go ahead"))
_MAY = listed("can may could")
ASKING = listed("can could may do be will would shall should am must have")  # opens a yes-or-no question
GREETINGS = listed("hi hello hey dear")
_NAY = listed("no nope")
_THAT = listed("that this not")
_ALLOWED = listed("allowed permitted possible")
_GROUNDS = listed("because since as once after")
_DOING = listed("that this it so yourself")
_BY_NOW = listed("any more anymore now")
_NO_PROBLEM = {("no", "problem"), ("no", "worry")}
REGRET = listed("unfortunately sadly sorry regrettably alas well afraid i be am")  # "I am afraid not"
_SAID_WITH_IT = _YES | _NAY | REGRET | _EAGER


def is_denied(words: Sequence[Word], used: Sequence[int]) -> bool:
    """Do an odd number of negations reach the words *used*?"""
    return (_before(words, used) + _after(words, used)) % 2 == 1


def _before(words: Sequence[Word], used: Sequence[int]) -> int:
    first, own = used[0], set(used)
    count = 0
    for i in range(first - 1, -1, -1):
        if words[i].sentence != words[first].sentence:
            break
        if words[i].clause != words[first].clause:
            count += _heads(words, i)
            break
        text = words[i].text
        if text in _ENDS or _is_meaning(words, i) or (text == "and" and _opens(words, i + 1)):
            break
        if _is_subject(words, i, first) and not _is_raised(words, i):
            break
        if i not in own:
            count += _negates(words, i, first)
    count += sum(words[i].text in _VERBAL | {"no"} for i in range(first, used[-1]) if i not in own)
    return count


def _negates(words: Sequence[Word], i: int, first: int) -> bool:
    text = words[i].text
    after = words[i + 1].text if i + 1 < len(words) else ""
    if text == "not" and after == "only":
        return False
    if text == "nor" and any(word.text == "neither" and word.clause == words[i].clause for word in words[:i]):
        return False  # "neither … nor …" denies once
    if text in _VERBAL or text in _DENYING or (text in _UNTRUE and after == "that"):
        return True
    if text == "no":
        between = [word for word in words[i + 1 : first] if word.text not in DETERMINERS]
        is_apart = any(word.text in ("no", "not", "and") for word in between)
        return (len(between) <= _NOMINAL_REACH and not is_apart) or after in _EMPTY
    if text == "too" and after == "late":
        return True
    return (text, after) in _INSTEAD and first - i <= 6


def _is_meaning(words: Sequence[Word], i: int) -> bool:
    """Does word *i* tell what something means: "no receipt means store credit"? What is not meant is denied."""
    return words[i].text == "mean" and words[i - 1].text not in PRONOUNS | {"not", "do", "to"}


def _heads(words: Sequence[Word], i: int) -> bool:
    """Is the clause before a heading that denies: "Not allowed: …"?"""
    clause = [word.text for word in words if word.clause == words[i].clause]
    heading = ("allowed", "allow", "permitted", "possible", "covered", "available")
    return len(clause) <= 3 and (
        (clause[:1] == ["not"] and clause[-1] in heading) or clause in (["forbidden"], ["prohibited"], ["never"])
    )


def _after(words: Sequence[Word], used: Sequence[int]) -> int:
    """Negations behind the words: "… is not possible", "… has been refused"."""
    last, own = used[-1], set(used)
    count = int(is_meant(words, used) and bool(end_of(words, last)))  # "the 30 days for a refund are over"
    start = _behind_relative(words, last)
    for i in range(start, min(start + 7, len(words))):
        text = words[i].text
        if words[i].clause != words[last].clause or text in _ENDS or text in _NEXT or text in PRONOUNS:
            break
        if i in own:
            continue
        behind_verb = any(word.text in AUXILIARIES for word in words[max(last + 1, i - 2) : i])
        longer = text in ("no", "out") and i + 1 < len(words) and words[i + 1].text in ("longer", "of")
        count += behind_verb and (text in ("not", "never") or text in _DENYING or longer)
    return count


def _behind_relative(words: Sequence[Word], last: int) -> int:
    """The word behind word *last* and what is told of it: "the refund (that) you asked for | is …"."""
    i = last + 1 + (last + 1 < len(words) and words[last + 1].text in _RELATIVE)
    if i >= len(words) or words[i].text not in PRONOUNS:
        return last + 1
    here = (k for k in range(i + 2, min(i + 6, len(words))) if words[k].clause == words[last].clause)
    return next((k for k in here if words[k].text in AUXILIARIES), last + 1)


def _opens(words: Sequence[Word], i: int) -> bool:
    return i + 1 < len(words) and words[i].text in PRONOUNS and words[i + 1].text in _SUBJECT_VERBS


def _is_subject(words: Sequence[Word], i: int, first: int) -> bool:
    """Is word *i* a subject whose verb follows: the "you" of "you get"?"""
    return words[i].text in PRONOUNS and i + 1 <= first and words[i + 1].text in _SUBJECT_VERBS


def _is_raised(words: Sequence[Word], i: int) -> bool:
    """ "I do not think we can": the negation of the thought is that of what is thought."""
    before = [word.text for word in words[max(0, i - 2) : i]]
    if before[1:] == ["that"] and before[0] in _TRUE | _UNTRUE:
        return True
    return before[-1:] != [] and before[-1] in (*_RAISING, "that") and any(text in _RAISING for text in before)


@lru_cache(maxsize=20_000)
def is_giving(word: str) -> bool:
    """Does the word say that somebody gets something, in any of its forms?"""
    return stem_of(word) in _GIVING_STEMS


@lru_cache(maxsize=20_000)
def is_act(word: str) -> bool:
    """Does the word say that somebody does something to what is the customer's?"""
    return stem_of(word) in _ACT_STEMS


def is_done(words: Sequence[Word], i: int) -> bool:
    """Does word *i* say what we do to it: "we have deleted …"?"""
    before = (word.text for word in words[max(i - 4, 0) : i] if word.clause == words[i].clause)
    return is_act(words[i].text) and any(text in ("we", "i") for text in before)


def is_question(text: str) -> bool:
    """Does the sentence ask?"""
    return text.rstrip().endswith("?")


def asks_yes_or_no(words: Sequence[Word]) -> bool:
    """Is it asked for a yes or a no: "can I …", "please cancel …", "I want to …"?"""
    texts = [word.text for word in words[:3]]
    return texts[0] in ASKING or texts[0] == "please" or texts[:2] == ["i", "want"] or texts[1:] == ["would", "like"]


def asks_if_too_late(words: Sequence[Word]) -> bool:
    """Is it asked whether there is no time left: "is it too late to …"? A yes then is a no."""
    return ("too", "late") in pairwise(word.text for word in words)


def is_added(words: Sequence[Word]) -> bool:
    """Is it what holds when something is added: "add $8 more and it is free"?"""
    first = next((i for i, word in enumerate(words) if word.text not in ("just", "please", "simply")), 0)
    here = words[first : first + 4]
    return bool(here) and here[0].text in ("add", "spend") and any(word.is_number for word in here)


def _ahead(words: Sequence[Word], i: int, most: int) -> Sequence[str]:
    return [word.text for word in words[i + 1 : i + 1 + most] if word.clause == words[i].clause]


def is_supposed(words: Sequence[Word]) -> bool:
    """Does it hold only if something else does? What is left to somebody's wish does hold: "if you like"."""
    texts = [word.text for word in words]
    if "long" in texts and is_held(words):
        return True
    wished = any(one in PRONOUNS and two in _WISHES | {"have", "need"} for one, two in pairwise(texts))
    return not wished and any(text in _IF - {"whether", "otherwise"} for text in texts)


def is_held(words: Sequence[Word]) -> bool:
    """Does it hold as long as something else does?"""
    return any(word.text == "long" and words[i - 1].text == "as" for i, word in enumerate(words) if i)


def is_conditional(words: Sequence[Word]) -> bool:
    """Does the sentence state something only under a condition, or not for sure?"""
    texts = [word.text for word in words]
    pairs = pairwise(texts)
    if is_added(words) or any(text in _IF or (text in _HEDGES and text != "would") for text in texts):
        return True
    if any(text == "would" and not _is_polite(words, i) for i, text in enumerate(texts)):
        return True
    limiting = _LIMITING | {"up"} if ("up", "to") in pairwise(texts) else _LIMITING
    if any(text == "only" and not limiting.isdisjoint(_ahead(words, i, 5)) for i, text in enumerate(texts)):
        return True
    if any(_limits_before(words, i) for i, text in enumerate(texts) if text == "only"):
        return True
    return any(pair in _IF_PAIRS or (pair[0] == "not" and pair[1] in _KNOWING) for pair in pairs)


def _limits_before(words: Sequence[Word], i: int) -> bool:
    """Does the "only" at word *i* end a clause: "for electronics only"?"""
    before = [word.text for word in words[max(i - 3, 0) : i] if word.clause == words[i].clause]
    is_last = i + 1 == len(words) or words[i + 1].clause != words[i].clause
    return is_last and not _SCOPED.isdisjoint(before)


def _is_polite(words: Sequence[Word], i: int) -> bool:
    """Is the "would" at word *i* only polite: "you would get store credit"? With a figure it may be of another case."""
    after = [word.text for word in words[i + 1 : i + 3]]
    if after[:1] and after[0] in ("be", "like", "love"):
        return True
    is_missed = after[:1] == ["have"] and after[1:] != ["to"]  # "you would have got …"
    return not is_missed and not any(word.is_number for word in words)


def is_wished(words: Sequence[Word], used: Sequence[int]) -> bool:
    """Is it only what somebody asked for, or what a rule is quoted to say?"""
    first = used[0]
    for i in range(first - 1, max(first - 7, -1), -1):
        if words[i].clause != words[first].clause:
            return False
        text = words[i].text
        if text in _WISHES and i and words[i - 1].text in ("you", "customer", "have", "be", "i", "they", "to"):
            return True
        if text in ("request", "question", "wish") and words[first - 1].text in ("for", "about"):
            return True
        if text in ("we", "will") or (text in GIVING and text not in ("have",)):
            return False
    return False


def is_withdrawn(words: Sequence[Word], used: Sequence[int]) -> bool:
    """Does the sentence take it back: "we would love to, but that is not going to happen", "…, or rather …"?"""
    sentence, last = words[used[-1]].sentence, used[-1]
    after = [word.text for word in words[last + 1 :] if word.sentence == sentence]
    for i, text in enumerate(after):
        rest = after[i + 1 :]
        if text in _BUT and rest[:1] and _is_refusal(rest):
            return True
        if (text, *rest[:1]) in _RATHER:
            return True
    return False


def _is_refusal(texts: Sequence[str]) -> bool:
    """Is it only a no, with nothing that is refused: "that is not going to happen", "we will not"?"""
    if texts[0] not in PRONOUNS and texts[0] not in ("that", "this", "no", "not", "sadly", "unfortunately"):
        return False
    rest = [text for text in texts if text not in PRONOUNS and text not in AUXILIARIES]
    return any(text in ("not", "no", "never") or text in _DENYING for text in rest) and all(
        text in _DENYING or text in _BARE for text in rest
    )


def is_partial(words: Sequence[Word], used: Sequence[int]) -> bool:
    """Is only a part of it given: "half of your money", "a full refund minus a fee"?"""
    first, last = used[0], used[-1]
    here = [
        (i, word.text)
        for i, word in enumerate(words[max(first - 4, 0) : last + 5], max(first - 4, 0))
        if word.clause == words[first].clause or i > last
    ]
    before = any(text in _PARTS for i, text in here if i <= last and i not in used)
    behind = [(i, text) for i, text in here if i > last and words[i].sentence == words[last].sentence]
    is_part = any(text in _PARTS and words[i - 1].text in ("of", "for", "on") for i, text in behind)
    return before or is_part or any(text in _LESS or _is_less(words, i) for i, text in behind)


def _is_less(words: Sequence[Word], i: int) -> bool:
    """Does word *i* take something off: "less 5%"?"""
    after = words[i + 1].text if i + 1 < len(words) else ""
    return words[i].text == "less" and (after in DETERMINERS or after[:1].isdigit())


def is_general(words: Sequence[Word]) -> bool:
    """Does it speak of more than one case, whatever the amounts: "we never …", "cameras are excluded"?"""
    return any(word.text in _GENERAL for word in words) and not any(word.is_number for word in words)


def is_awaited(words: Sequence[Word], start: int) -> bool:
    """Is what is said at *start* yet to come, or said of whoever does it: "once it has arrived", "a manager may"?"""
    i = next((k for k, word in enumerate(words) if word.start >= start), len(words))
    before = [word.text for word in words[max(i - 4, 0) : i] if word.clause == words[min(i, len(words) - 1)].clause]
    is_called = before[-1:] == ["a"] and not _CALLING.isdisjoint(before)
    return any(text in _UNTIL for text in before) or is_called or is_of_office(words, start)


def is_demanded(words: Sequence[Word], start: int, end: int) -> bool:
    """Is what is said there only what has to be so: "the seal has to be whole", "your identity is verified first"?"""
    near = [i for i, word in enumerate(words) if start <= word.start < end]
    texts = [word.text for word in words[max(near[0] - 3, 0) : near[-1] + 1]] if near else []
    after = [word.text for word in words[near[-1] + 1 : near[-1] + 2]] if near else []
    return after == ["first"] or "must" in texts or ("have", "to") in pairwise(texts)


def is_of_office(words: Sequence[Word], start: int) -> bool:
    """Does it name whose business it is: "a manager may approve it"?"""
    i = next((k for k, word in enumerate(words) if word.start >= start), len(words))
    return [word.text for word in words[i - 1 : i]] == ["a"] and not _BY_OFFICE.isdisjoint(
        word.text for word in words[i + 1 : i + 2]
    )


def is_greeting(words: Sequence[Word]) -> bool:
    """Is it only a hello, with a name or two?"""
    return len(words) <= 4 and bool(words) and words[0].text in GREETINGS


def is_plural(word: Word, text: str) -> bool:
    """Is the word of *text* a noun in the plural, as far as spelling alone tells?"""
    raw = text[word.start : word.end].casefold()
    return raw.endswith("s") and raw != word.text and word.text not in FUNCTION_WORDS


def is_dated(words: Sequence[Word], used: Sequence[int]) -> bool:
    """Do the words only say from when on something else holds: "you can return it once it has arrived"?"""
    before = [word.text for word in words[max(used[0] - 4, 0) : used[0]] if word.clause == words[used[0]].clause]
    return any(text in _UNTIL or text == "after" for text in before)


def is_yes_or_no(words: Sequence[Word]) -> bool:
    """Is nothing said but yes or no: "Yes, that is possible"?"""
    answer = says_yes_or_no(words)
    texts = [word.text for word in words]
    rest = [text for text in (texts[:-2] if texts[-2:] == ["at", "all"] else texts) if text not in _SAID_WITH_IT]
    is_plain = all(text in PRONOUNS | AUXILIARIES | _ALLOWED | _THAT for text in rest)
    return answer is not None and is_plain and ("not" in rest) <= (answer is False)


def is_calming(texts: Collection[str]) -> bool:
    """Does a clause only calm down: "don't worry", "no problem at all"?"""
    return not _WORRIES.isdisjoint(texts) and _CALMING.issuperset(texts)


def echo(words: Sequence[Word], asked: Sequence[Word]) -> Sequence[Word]:
    """The words that say yes with the verb of the question alone: all, or the first clause, of "You may, as …"."""
    first = [word for word in words if word.clause == words[0].clause]
    is_held = any(word.text in _UNTIL | _IF or word.text == "after" for word in words[len(first) :])
    said = next((part for part in (words, first) if echoes(part, asked)), ())
    return () if is_held and len(said) < len(words) else said


def echoes(words: Sequence[Word], asked: Sequence[Word]) -> bool:
    """Does it say yes with the verb of the question alone: "You may." to "may I approve it?"?"""
    texts = [word.text for word in words if word.text not in _YES]
    if len(texts) not in (2, 3) or len(asked) < 2:
        return False
    if asked[1].text in ("i", "we") and " ".join(texts) in _GO_AHEAD:
        return True
    verb, subject = asked[0].text, asked[1].text
    is_same = texts[1] == verb or (texts[1] in _MAY and verb in _MAY)
    return is_same and len(texts) == 2 and texts[0] in _SWAPPED.get(subject, _OTHERS)


def says_yes_or_no(words: Sequence[Word]) -> bool | None:
    """What an answer opens with: True for yes, False for no, None for neither."""
    opening = _opening(words)
    return opening[0] if opening else None


def opening(words: Sequence[Word]) -> Sequence[Word]:
    """The words in which an answer says yes or no: "Sorry, that is not possible"; none where it does neither."""
    found = _opening(words)
    return words[: found[1]] if found else ()


def _opening(words: Sequence[Word]) -> tuple[bool, int] | None:
    """Yes or no, and how many words say it."""
    start = sum(1 for _ in takewhile(lambda word: word.text in REGRET, words))
    start += start > 0 and words[start : start + 1] != () and words[min(start, len(words) - 1)].text == "but"
    texts = [word.text for word in words[start:]]
    if texts[:1] == ["so"] and start and words[start - 1].text == "afraid":
        return True, start + 1
    if tuple(texts[:2]) in _NO_PROBLEM:
        return True, start + 2
    if texts[:1] and (texts[0] in _YES or texts[:2] == ["of", "course"]):
        return texts[1:2] != ["not"], start + 1
    is_whole = len(words) == start + 1 or (len(words) > start and words[start].clause != words[start + 1].clause)
    if texts[:2] == ["no", "matter"]:
        return None
    if texts[:1] and (texts[0] in _NAY or (texts[0] == "not" and is_whole)):
        return False, start + 1
    first = words[min(start, len(words) - 1)].clause if words else 0
    here = takewhile(lambda word: word.clause <= first and word.text not in _GROUNDS, words)
    clause = [word.text for word in here]
    bare = [text for text in clause if text not in REGRET | {"please"} or text in AUXILIARIES]
    while "not" in bare and bare[-1] in _BY_NOW:
        bare.pop()  # "that is not possible any more"
    if "do" in bare[1:] and set(bare[-2:]) <= _DOING | {"do"}:
        bare = [text for text in bare if text not in _DOING]
        bare = bare[:-1] if bare[-1] == "do" else bare  # "we cannot do that"
    is_denied = "not" in bare or "longer" in bare
    is_short = all(text in PRONOUNS | AUXILIARIES | _ALLOWED | {"that", "this", "not", "no", "longer"} for text in bare)
    if is_short and len(bare) > 1 and (bare[-1] in _ALLOWED or (is_denied and bare[-1] == "not")):
        return not is_denied, len(clause)
    return None
