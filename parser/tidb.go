package parser

import (
	"errors"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// maxConstant is how long a constant expression is evaluated, in bytes. It
// bounds the depth of the syntax tree.
const maxConstant = 256

// tidbParsers holds TiDB parsers, which are dear to make and serve one
// goroutine at a time.
var tidbParsers = sync.Pool{New: func() any { return parser.New() }}

// errUnparsed is what the TiDB parser says when it panics: its driver of values
// has no decimals of more than 81 digits.
var errUnparsed = errors.New("it cannot be parsed: has it a number of more than 81 digits?")

// parseTiDB has the TiDB parser read one statement, which must not be nested
// deeply. The mode's character set is not looked at.
func parseTiDB(sql string, m Mode) (stmt ast.StmtNode, err error) {
	p := tidbParsers.Get().(*parser.Parser)
	defer func() {
		if recover() != nil {
			stmt, err = nil, errUnparsed
			return // the parser may be in any state
		}
		p.Reset() // it would keep the tree
		tidbParsers.Put(p)
	}()
	var mode mysql.SQLMode
	if m.ANSIQuotes {
		mode |= mysql.ModeANSIQuotes
	}
	if m.NoBackslashEscapes {
		mode |= mysql.ModeNoBackslashEscapes
	}
	p.SetSQLMode(mode)
	p.SetMariaDB(m.MariaDB)
	return p.ParseOneStmt(sql, "", "")
}

// constant returns the slot of an expression over literals, such as 1-1, and
// Unknown for every other one.
func (l *literals) constant(text []byte) Slot {
	if len(text) > maxConstant || !isArithmetic(text) {
		return Slot{State: Unknown}
	}
	plain, err := blankComments(string(text), Mode{})
	if err != nil {
		return Slot{State: Unknown}
	}
	stmt, err := parseTiDB("SELECT "+plain, Mode{})
	if err != nil {
		return Slot{State: Unknown}
	}
	query, ok := stmt.(*ast.SelectStmt)
	if !ok || len(query.Fields.Fields) != 1 || query.Fields.Fields[0].Expr == nil {
		return Slot{State: Unknown}
	}
	n, null, ok := evaluate(query.Fields.Fields[0].Expr)
	switch {
	case !ok:
		return Slot{State: Unknown}
	case null:
		return Slot{State: Open}
	}
	return l.integer(n)
}

// isArithmetic reports whether the text has numbers, NULL, TRUE, FALSE and
// operators only: what no sql_mode and no session state changes.
func isArithmetic(text []byte) bool {
	s := newScanner(text, Mode{})
	for {
		switch t := s.next(); t {
		case tokenEOF:
			return true
		case tokenWord:
			switch {
			case isDigit(text[s.start]):
			case s.is(t, "null"), s.is(t, "true"), s.is(t, "false"), s.is(t, "div"), s.is(t, "mod"):
			default:
				return false
			}
		case '(', ')', '+', '-', '*', '%', '&', '|', '^', '~', '<', '>', '=', '!':
		default:
			return false
		}
	}
}

// evaluate returns the value of an expression over integers and NULL. It
// reports false for what it cannot tell exactly.
func evaluate(node ast.ExprNode) (n int64, null, ok bool) {
	switch e := node.(type) {
	case *ast.ParenthesesExpr:
		return evaluate(e.Expr)
	case *test_driver.ValueExpr:
		switch v := e.GetValue().(type) {
		case nil:
			return 0, true, true
		case int64:
			return v, false, true
		}
	case *ast.UnaryOperationExpr:
		if n, null, ok = evaluate(e.V); ok && !null {
			n, ok = evaluateUnary(e.Op, n)
		}
		return n, null, ok
	case *ast.BinaryOperationExpr:
		a, nullA, okA := evaluate(e.L)
		b, nullB, okB := evaluate(e.R)
		n, ok = evaluateBinary(e.Op, a, b)
		null = nullA || nullB
		return n, null, okA && okB && (ok || null && isStrictInNull(e.Op))
	}
	return 0, false, false
}

// isStrictInNull reports whether the operator makes NULL of every NULL.
func isStrictInNull(op opcode.Op) bool {
	switch op {
	case opcode.Plus, opcode.Minus, opcode.Mul, opcode.IntDiv, opcode.Mod, opcode.EQ, opcode.NE,
		opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.And, opcode.Or, opcode.Xor:
		return true
	}
	return false
}

func evaluateUnary(op opcode.Op, n int64) (int64, bool) {
	switch op {
	case opcode.Plus:
		return n, true
	case opcode.Minus:
		return -n, n != -n || n == 0
	case opcode.Not2: // !; NOT binds as sql_mode says
		return number(n == 0), true
	}
	return 0, false
}

func evaluateBinary(op opcode.Op, a, b int64) (int64, bool) {
	switch op {
	case opcode.Plus:
		return a + b, (a+b > a) == (b > 0)
	case opcode.Minus:
		return a - b, (a-b < a) == (b > 0)
	case opcode.Mul:
		const small = 1 << 31
		return a * b, a < small && a > -small && b < small && b > -small
	case opcode.IntDiv:
		if b == 0 {
			return 0, false // NULL or an error, by sql_mode
		}
		return a / b, a != -1<<63
	case opcode.Mod:
		if b == 0 {
			return 0, false
		}
		return a % b, a != -1<<63
	case opcode.And:
		return a & b, a >= 0 && b >= 0
	case opcode.Or:
		return a | b, a >= 0 && b >= 0
	case opcode.Xor:
		return a ^ b, a >= 0 && b >= 0
	case opcode.EQ:
		return number(a == b), true
	case opcode.NE:
		return number(a != b), true
	case opcode.LT:
		return number(a < b), true
	case opcode.LE:
		return number(a <= b), true
	case opcode.GT:
		return number(a > b), true
	case opcode.GE:
		return number(a >= b), true
	}
	return 0, false
}

// number returns the value of a truth value.
func number(truth bool) int64 {
	if truth {
		return 1
	}
	return 0
}
