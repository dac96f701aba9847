"""The words of asking: what counts, sums, groups, compares, ranks, denies and joins; and requests to change data.

A word belongs to the fillers only if leaving it out cannot change the answer. Everything else must be bound to the
catalogue. Words are in the normal form of `read_words`: singular, `be`, `have` and `do` for all their forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from bot.analytics.reader.said import Change
from bylaw.authored.context import Aggregation
from bylaw.authored.record import Grain
from bylaw.language.lexicon import lexicon
from bylaw.semantic.query import Operator


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(lines: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(line.split()) for line in lines.split(","))


FILLERS = _set(
    "a an the this that these those our we us me you it they them their its his her he she please like of in for on at "
    "among "
    "to from with within be do there can could would will what which who whom whose how much and during just so "
    "far hi hello hey thank thanks as also then along well here any some where when while i my have all yet "
    "already"
)
ARTICLES = _set("a an the our all of each every any some their its his her your this these those")
DETERMINERS = _set("a an the our their its his her your this these those")
PLACES = _set("for in from on at during within about among")
DEFINING = _set("the sum of , and divide divided by plus minus times total amount number value a")
BY = _set("by per each every across")
NOT = _set("not no without outside excluding exclude except never non non-")
ASKING = _set(
    "calculate compute determine return show list give display provide find get identify name see want need know "
    "tell fetch retrieve plot visualize visualise"
)
WHICH = _set("which what who whom")
RELATIVE = _set("who that which whose with have having where without whom")
PRONOUNS_OF_ALL = _phrases(
    "of which,from these,from those,of these,of those,of them,out of these,out of those,out of them,among these,"
    "among those"
)
COUNTING = _phrases(
    "how many,number of,count of,number of the,count of the,no of,total number of,total count of,count the number of,"
    "count,overall number of,no of,amount of different,how many total,how many different"
)
DISTINCT = _set("distinct unique different separate")
AGGREGATES: Mapping[str, Aggregation] = {
    "total": "sum", "sum": "sum", "overall": "sum", "combined": "sum", "aggregate": "sum",
    "average": "avg", "avg": "avg", "mean": "avg", "median": "median", "typical": "median",
}  # fmt: skip
AVERAGES = frozenset(word for word, agg in AGGREGATES.items() if agg != "sum")
EXTREMES: Mapping[str, Aggregation] = {
    "maximum": "max", "max": "max", "minimum": "min", "min": "min",
    "highest": "max", "largest": "max", "biggest": "max", "greatest": "max", "longest": "max", "latest": "max",
    "newest": "max", "lowest": "min", "smallest": "min", "shortest": "min", "earliest": "min", "least": "min",
    "oldest": "min", "cheapest": "min", "recent": "max", "fewest": "min", "most": "max", "top": "max",
    "bottom": "min", "leading": "max", "last": "max", "first": "min", "strongest": "max",
    "weakest": "min", "tallest": "max", "heaviest": "max", "fastest": "max", "slowest": "min", "youngest": "max",
}  # fmt: skip
ENDS: Mapping[tuple[str, ...], bool] = {  # of several rows: is it the last one?
    ("last",): True, ("latest",): True, ("most", "recent"): True, ("newest",): True, ("very", "last"): True,
    ("first",): False, ("earliest",): False, ("oldest",): False, ("very", "first"): False,
    ("youngest",): True,
}  # fmt: skip
AMBIGUOUS_EXTREMES = _set("last first")  # of themselves no rank: "first name", "last week"
COUNTED = _set("most fewest least top bottom")  # of rows: how many there are
TIMELY = _set("latest newest earliest oldest recent last first youngest")
RANKING = _set("top bottom most fewest least leading highest lowest largest biggest greatest smallest")
MOST = _set("top highest most largest biggest greatest leading")
GRAINS: dict[str, Grain] = {
    "day": "day", "daily": "day", "week": "week", "weekly": "week", "month": "month", "monthly": "month",
    "quarter": "quarter", "quarterly": "quarter", "year": "year", "yearly": "year", "annually": "year",
    "annual": "year",
}  # fmt: skip
ADVERBS = _set("daily weekly monthly quarterly yearly annually annual")
FOLLOWING = _set("but or also now about if same again instead thing actually mean meant make")
NUMBERS = {word: number for word, number in lexicon().numbers.items() if number <= 12}
_COMPARISONS: Mapping[Operator, str] = {
    ">": "more than,greater than,higher than,larger than,bigger than,longer than,over,above,exceeding,exceed,>,"
    "better than,older than,heavier than,later than",
    ">=": "at least,no less than,no fewer than,not less than,a minimum of,minimum of,>=,greater than or equal to,"
    "more than or equal to",
    "<": "less than,fewer than,lower than,smaller than,shorter than,below,under,<,worse than,younger than,earlier than",
    "<=": "at most,no more than,not more than,up to,a maximum of,<=,less than or equal to",
    "in": "equal to,equal,exactly,=,name,named,call,called,titled,labeled,identified by",
    "starts_with": "start with,starting with,begin with,beginning with,start with the letter,"
    "starting with the letter,begin with the letter,beginning with the letter",
    "ends_with": "end with,ending with,end in,ending in,end with the letter,ending with the letter",
    "contains": "contain,containing,include the word,including the word,contain the word,containing the word",
}
COMPARISONS: Mapping[tuple[str, ...], Operator] = {
    tuple(phrase.split()): operator for operator, phrases in _COMPARISONS.items() for phrase in phrases.split(",")
}
AFTERWARDS: Mapping[tuple[str, ...], Operator] = {
    ("or", "more"): ">=", ("or", "higher"): ">=", ("or", "above"): ">=", ("or", "greater"): ">=", ("or", "over"): ">=",
    ("or", "less"): "<=", ("or", "fewer"): "<=", ("or", "lower"): "<=", ("or", "below"): "<=", ("or", "under"): "<=",
}  # fmt: skip
NEUTRAL_VERBS = _set(  # they say that a row exists and nothing about which
    "make made perform performed occur occurred occured happen happened take taken took place placed exist record "
    "recorded "
    "receive received report reported associate associated relate related belong list listed offer offered post posted "
    "conduct conducted use used involve involved involving written write wrote serve served serving get got earn "
    "earned give given correspond corresponding register registered locate located present presented appear "
    "accumulate accumulated hold held own owned work worked visit visited teach taught carry carried process processed "
    "create created issue issued submit submitted publish published respective respectively "
    "generate generated provide provided enroll enrolled own run ran complete completed found "
    "experience experienced attend attended going gone go done live living reside residing based transacted gotten "
    "obtain obtained treated undergone undergo happening occurring prescribed found serving appearing belonging "
    "vary varied differ come came originating available respond responded sort"
)
VERBS = NEUTRAL_VERBS | _set(  # they connect two things that the catalogue connects in one way only
    "affiliated assigned attend authored authoring bought build built buy contain contained containing "
    "contribute contributed cross crossed employ employed feature featured flew flow flowing flown fly flying handle "
    "handled host hosted include included joined link linked manage managed manufacture manufactured operate operated "
    "operating pass paid pay prescribe produce produced purchase purchased require required requiring sell selling "
    "sold study studied studying supply supplied taking teaching took traverse treat use using wrote writing drive "
    "driven drove send sending sent"
)
PARTICLES = _set("by in at for with through on of to into from about")
ORDERING = _set("order ordered sort sorted rank ranked arrange arranged ordering sorting")
_DOWNWARDS = (
    "descending,desc,descending order,in descending order,from highest to lowest,highest to lowest,from most to least,"
    "most to least,starting from the top,highest first,largest first,longest duration first,from best to worst,"
    "starting from the best to the lowest,from largest to smallest,largest to smallest,most recent first,newest first,"
    "from the highest to the lowest,from newest to oldest,in reverse order,from high to low,high to low,most first,"
    "with the longest duration first,with the highest first,with the largest first,starting with the highest,"
    "starting with the largest,starting from the highest,from longest to shortest,"
    "longest first,biggest first,greatest first,latest first,best first"
)
_UPWARDS = (
    "ascending,asc,ascending order,in ascending order,from lowest to highest,lowest to highest,alphabetically,"
    "in alphabetical order,alphabetical order,lowest first,smallest first,oldest first,from smallest to largest,"
    "from oldest to newest,from least to most,least to most,chronologically,in chronological order,earliest first,"
    "from low to high,low to high,from the lowest to the highest,from earliest to latest,starting with the lowest,"
    "starting from the lowest,from shortest to longest,shortest first,fewest first,least first,cheapest first"
)
DIRECTIONS: Mapping[tuple[str, ...], bool] = {  # is it downwards?
    tuple(phrase.split()): is_down
    for is_down, phrases in ((True, _DOWNWARDS), (False, _UPWARDS))
    for phrase in phrases.split(",")
}
SPELLED = _set("alphabetically alphabetical")
ORIGINS = _set("from origin source departure sender leaving departing start starting")
DESTINATIONS = _set("to destination target arrival receiver arriving end ending")
WEEKENDS = _phrases("on weekend,on the weekend,at weekend,at the weekend,during weekend,weekend,on a weekend")
WEEKDAYS = _phrases("on weekday,on a weekday,during weekday,weekday,on working day")
ROWS = _set("record records entry entries row rows data information details detail list database table")
_QUOTIENTS: Mapping[tuple[bool, bool], str] = {  # is it a part of a whole, is it in percent?
    (False, False): "ratio of,ratio between,quotient of",
    (True, False): "proportion of,fraction of,share of,portion of",
    (True, True): "percentage of,percent of,% of,percentage share of,how many percent of",
}
QUOTIENTS: Mapping[tuple[str, ...], tuple[bool, bool]] = {
    tuple(phrase.split()): kind for kind, phrases in _QUOTIENTS.items() for phrase in phrases.split(",")
}
AS_PARTS: Mapping[tuple[str, ...], bool] = {  # "refunds as a share of revenue": is it in percent?
    ("as", *article, part, "of"): in_percent
    for article in ((), ("a",), ("the",))
    for parts, in_percent in (("share fraction proportion ratio", False), ("percentage percent %", True))
    for part in parts.split()
}
_SEPARATORS = {  # what must follow, so that they stand between the two sides: a number, one of everything, a column
    "number": "to,out of,compared to,compared with,relative to,versus,vs,against,divided by,/",
    "and": "and",
    "whole": "in,of,among",
    "column": "per",
}
SEPARATORS: Mapping[tuple[str, ...], str] = {
    tuple(phrase.split()): kind for kind, phrases in _SEPARATORS.items() for phrase in phrases.split(",")
} | dict.fromkeys(AS_PARTS, "number")
WHOLE = _set("all total overall entire whole")
SCOPES = _set("in for during within at on from")
IN_UNIT = _phrases(
    "in,convert to,converted to,convert it to,expressed in,express in,measured in,given in,as number of,in unit of,"
    "as,as a,("
)
HINTS = _phrases(  # how somebody would write the SQL: what it says follows from the question anyway
    "by do a left join,by doing a left join,based on joining,based on join,by joining,by join,use a left join,"
    "using a left join,by performing a left join,represent each,give the answer as,return the percentage value,"
    "return the percentage,rounded to,match string exactly,match food,as a chart,as chart,as a bar chart,as bar chart,"
    "as a line chart,as a graph,as a line graph,as a bar graph,as a plot,as a diagram,in a chart,in a graph"
)
MATCHING = _phrases(
    "by how much,as an integer,as integer,give the answer as an integer,give the answer as integer,"
    "give the answer as a whole number,answer as an integer,return an integer,as a whole number,"
    "as a date,as a decimal,in your answer,in total,"
    "match case insensitively,match with wildcard case insensitively,case insensitively,case insensitive,"
    "match with wildcards case insensitively,matched case insensitively,regardless of case,ignore case,ignoring case"
)
REMARKS = (
    FILLERS
    | ROWS
    | GRAINS.keys()
    | _set(
        "by join joining left right inner outer using use each first last date none no any 0 zero metric value number "
        "your answer and or as column columns case performing row order"
    )
)
EMPTY_TOO = _phrases(
    "include those with none,including those with none,include those where there be no,"
    "including those where there be no,even those with none,including month without any,include all month,"
    "including zero,including those with zero,including zeros,include zero,including empty one,"
    "return all month,return all week,return all day,return all year,return all quarter,include all week,"
    "show all month,including those where,include those where,"
    "including those without any,including those without,including those with no,including one without any,"
    "even if they have none,even if there be none"
)
SUFFIXES = _set("amount value figure total sum")  # behind a sum they add nothing
COUNT_SUFFIXES = _set("count number figure")  # behind a count
AMOUNTS = _set(  # "total sales" may count them or add them up
    "sale spend spending payment refund expense deposit withdrawal donation fee commission bonus loan discount reward"
)
_CHANGES: Mapping[Grain, str] = {
    "week": "week over week,wow,change from the previous week,compared to the previous week",
    "month": "month over month,month on month,mom change,mom,change from the previous month,"
    "compared to the previous month",
    "quarter": "quarter over quarter,qoq,change from the previous quarter,compared to the previous quarter",
    "year": "year over year,yoy,year on year,change from the previous year,compared to the previous year",
}
# "how many times may a customer …", "must we …": what is asked for is a rule, whatever it counts
LEAVE = frozenset(
    product(("may", "must"), ("a", "an", "the", "i", "we", "he", "she", "it", "they", "you", "one", "our"))
)
COMPARED_TO = _set("compared comparison relative opposed")  # before a "to" that leads nowhere
_CHANGED: Mapping[Change, str] = {
    "growth": "percent change,percentage change,% change,percent growth,percentage growth,% growth,growth rate,"
    "rate of growth,percent increase,percentage increase,percent decrease,percentage decrease,percent difference,"
    "percentage difference,relative change,by what percent,by what percentage,growth in percent,change in percent",
    "change": "difference,absolute change,absolute difference,net change,minus",
    "both": "grow,grew,grown,growth,change,changed,increase,increased,decrease,decreased,decline,declined,rise,rose,"
    "fall,fell,fallen,risen,differ,shrink,shrank",
}
CHANGED: Mapping[tuple[str, ...], Change] = {
    tuple(phrase.split()): kind for kind, phrases in _CHANGED.items() for phrase in phrases.split(",")
}
FREQUENT = _phrases(
    "most frequently used,most frequent,most common,most popular,most commonly used,most often used,best selling,"
    "most frequently,most commonly,most often,most used"
)
CHANGES: Mapping[tuple[str, ...], Grain] = {
    tuple(phrase.split()): grain for grain, phrases in _CHANGES.items() for phrase in phrases.split(",")
}
RECURRING = _phrases(
    "day of the week,day of week,month of the year,month of year,day of the month,day of month,week of the year,"
    "quarter of the year"
)
CYCLES: Mapping[tuple[str, ...], str] = {
    tuple(phrase.split()): part
    for part, phrases in {
        "weekday": "weekday,week day,day of the week,day of week",
        "hour_of_day": "hour,hour of the day,hour of day",
        "day_of_month": "day of the month,day of month",
        "month_of_year": "month of the year,month of year,calendar month",
    }.items()
    for phrase in phrases.split(",")
}
COMING = _set("be have get see sell make lose reach need pay earn grow")  # "are we going to have"
SIGNS = _set("> < >= <= = !=")  # of a comparison
WISHES = _set("want need would like see know get wonder")  # "I want": the person who asks, never a condition
