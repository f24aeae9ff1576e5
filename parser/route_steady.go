package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// steadyFunctions have one value for the same arguments on every server and at every time, beside those that a constant
// expression may have. The list is that of MySQL's manual, "Built-In Function and Operator Reference", without those that
// tell a time, a session, a server or chance, and those that a shard's own configuration decides about.
var steadyFunctions = wordSet(`if char_func insert_func pi exp ln log log2 log10 sin cos tan cot asin acos atan atan2 degrees radians
	format quote soundex make_set export_set convert collation coercibility charset weight_string
	date time year month monthname day dayname dayofmonth dayofweek dayofyear hour minute second microsecond week weekday weekofyear
	yearweek quarter last_day extract date_add date_sub adddate subdate addtime subtime datediff timediff timestampdiff timestampadd
	date_format time_format str_to_date makedate maketime period_add period_diff from_days to_days to_seconds sec_to_time time_to_sec
	from_unixtime unix_timestamp get_format dateliteral timeliteral timestampliteral
	json_array json_object json_quote json_unquote json_extract json_contains json_contains_path json_keys json_search json_set
	json_insert json_replace json_remove json_merge json_merge_patch json_merge_preserve json_array_append json_array_insert
	json_length json_depth json_type json_valid json_pretty json_value json_overlaps member_of json_memberof json_exists json_query
	regexp regexp_like regexp_replace regexp_substr regexp_instr is_ipv4 is_ipv6 is_uuid inet6_aton inet6_ntoa
	bit_xor any_value isnull not interval compress uncompress uncompressed_length nvl nvl2 decode values`)

// varying names what an expression has that may be another value on another server or at another time: "" for nothing. Of
// an expression with parts it says nothing about these.
func varying(n ast.Node) string {
	switch e := n.(type) {
	case *ast.FuncCallExpr:
		if e.Schema.L != "" || !constantWords[e.FnName.L] && !steadyFunctions[e.FnName.L] {
			return strings.ToUpper(e.FnName.L) + "()"
		}
		if e.FnName.L == "unix_timestamp" && len(e.Args) == 0 {
			return "UNIX_TIMESTAMP()"
		}
	case *ast.VariableExpr:
		if e.IsSystem {
			return "@@" + e.Name
		}
	case *ast.DefaultExpr:
		return "DEFAULT"
	case *ast.WindowFuncExpr:
		return "a window function"
	case *ast.AggregateFuncExpr:
		if strings.EqualFold(e.F, ast.AggFuncGroupConcat) && e.Order == nil {
			return "GROUP_CONCAT() without ORDER BY"
		}
	}
	return ""
}
