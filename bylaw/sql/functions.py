"""Which function names the SQL gate lets through: pure functions of their arguments, and nothing else.

An allow-list on purpose: what is not here (files, network, settings, sequences, logs, other SQL text, session facts)
is denied, including everything a later database version adds.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from bylaw.errors import GateDenied
from bylaw.sql.catalogue import denied

_AGGREGATES = """
any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null argmax
argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if countif covar_pop covar_samp entropy
favg first fsum geomean geometric_mean group_concat histogram kurtosis kurtosis_pop last list listagg mad max max_by
mean median min min_by mode percentile_cont percentile_disc product quantile quantile_cont quantile_disc regr_avgx
regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness
stddev stddev_pop stddev_samp string_agg sum sumkahan var_pop var_samp variance weighted_avg
cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
grouping grouping_id
"""

_NUMBERS = """
abs acos acosh asin asinh atan atan2 atanh bin bit_count cbrt ceil ceiling cos cosh cot degrees divide even exp
factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor hash isfinite isinf isnan lcm least
least_common_multiple lgamma ln log log10 log2 mod multiply nextafter pi pow power radians random round round_even
sign signbit sin sinh sqrt subtract tan tanh to_base trunc truncate xor equi_width_bins width_bucket
"""

_TEXT = """
array_to_string ascii bar base64 bit_length char_length character_length chr concat concat_ws contains
damerau_levenshtein editdist3 ends_with format format_bytes from_base64 from_hex hamming hex ilike_escape initcap
instr jaccard jaro_similarity jaro_winkler_similarity lcase left left_grapheme len length length_grapheme
levenshtein like_escape lower lpad ltrim md5 mismatches nfc_normalize octet_length ord parse_dirname parse_dirpath
parse_filename parse_path position prefix printf regexp_escape regexp_extract regexp_extract_all regexp_full_match
regexp_like regexp_matches regexp_replace regexp_split_to_array repeat replace reverse right right_grapheme rpad
rtrim sha1 sha256 split split_part starts_with str_split str_split_regex string_split string_split_regex
string_to_array strip_accents strlen strpos substr substring substring_grapheme suffix to_base64 to_hex translate
trim ucase unhex unicode upper url_decode url_encode overlay
"""

_TIME = """
with_timezone at_timezone convert_timezone convert_tz datetime
add age ago century current_date current_timestamp date_add date_diff date_part date_sub date_trunc datediff datepart
datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns epoch_us era
extract get_current_timestamp hour isodow isoyear julian last_day make_date make_time make_timestamp
make_timestamp_ms make_timestamptz microsecond millennium millisecond minute month monthname now quarter second
strftime strptime time_bucket timezone to_centuries to_days to_decades to_hours to_microseconds to_milliseconds
to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp try_strptime
week weekday weekofyear year yearweek
"""

_NESTED = """
aggregate apply array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
array_distance array_distinct array_extract array_filter array_has array_has_all array_has_any array_indexof
array_intersect array_length array_position array_prepend array_reduce array_reverse array_reverse_sort array_select
array_slice array_sort array_transform array_unique array_value array_where array_zip cardinality element_at filter
flatten generate_series list_aggr list_aggregate list_any_value list_append list_apply list_avg list_cat list_concat
list_contains list_count list_distinct list_element list_extract list_filter list_first list_has list_has_all
list_has_any list_indexof list_intersect list_last list_max list_median list_min list_pack list_position
list_prepend list_reduce list_resize list_reverse list_reverse_sort list_select list_slice list_sort
list_string_agg list_sum list_transform list_unique list_value list_where list_zip map map_concat map_contains
map_entries map_extract map_from_entries map_keys map_values range row struct_extract struct_insert struct_keys
struct_pack struct_values union_extract union_tag union_value unnest
json json_array json_array_length json_contains json_each json_exists json_extract json_extract_path
json_extract_path_text json_extract_string json_group_array json_group_object json_keys json_merge_patch json_object
json_pretty json_quote json_structure json_tree json_type json_valid json_value row_to_json to_json array_to_json
"""

_PLAIN = """
case cast coalesce try_cast convert decode encode enum_code enum_first enum_last enum_range if ifnull iff nullif nvl
typeof pg_typeof try uuid gen_random_uuid constant_or_null
"""

ALLOWED_FUNCTIONS = frozenset(" ".join((_AGGREGATES, _NUMBERS, _TEXT, _TIME, _NESTED, _PLAIN)).split())

# Words that may stand before a parenthesis without being a call: keywords, and types that take arguments.
_OPENING = """
all and any array as asof between bernoulli bigint bit blob bool boolean by char character cross cube date decimal
desc asc distinct double else end enum except exclude exists false filter float following from full group having
ilike in inner integer int intersect interval is isnull join lambda lateral left like limit materialized natural
not notnull null numeric offset on or order outer over partition pivot preceding qualify real recursive rename
repeatable replace reservoir right rollup sample select semi sets similar smallint some struct system table
tablesample text then time timestamp timestamptz tinyint to true union unpivot using values varchar when where
window with within escape collate ordinality unbounded nulls first last respect ignore anti positional columns
"""
OPENING_WORDS = frozenset(_OPENING.split())


def check_calls(tokens: Sequence[Token], nodes: Iterable[exp.Expr]) -> None:
    """Every word before a parenthesis is a keyword, an allowed function, or names the columns of an alias.

    The tokens are read, not only the tree: a parser gives known functions new names, the database reads the text.
    """
    lists: Counter[str] = Counter()
    for node in nodes:
        if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc) and node.name.lower() not in ALLOWED_FUNCTIONS:
            raise denied("function", f"the function `{node.name.lower()}` is not allowed here", node)
        if isinstance(node, exp.TableAlias) and node.args.get("columns"):
            lists[node.name.lower()] += 1
    called: defaultdict[str, list[int]] = defaultdict(list)
    for token, following in pairwise(tokens):
        if following.token_type != TokenType.L_PAREN or not re.match(r"\w", token.text):
            continue
        if token.token_type not in (TokenType.STRING, TokenType.NUMBER):
            called[token.text.split()[-1].lower()].append(token.start)
    for name, starts in sorted(called.items()):
        if name not in ALLOWED_FUNCTIONS and name not in OPENING_WORDS and len(starts) > lists[name]:
            raise GateDenied("function", f"the function `{name}` is not allowed here", starts[0])
