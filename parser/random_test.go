package parser

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// randomInserts makes INSERTs and REPLACEs on ua(id, val, n) that a server reads,
// with all that can stand where a scanner may lose its way.
type randomInserts struct {
	*rand.Rand
	mode   Mode
	wide   string // characters outside ASCII, in the client's character set
	params bool   // with placeholders
}

func (r *randomInserts) one(of ...string) string { return of[r.IntN(len(of))] }

// sometimes gives the text once in n times.
func (r *randomInserts) sometimes(n int, text string) string {
	if r.IntN(n) == 0 {
		return text
	}
	return ""
}

// gap is what may stand between two tokens that need nothing between them.
func (r *randomInserts) gap() string {
	if r.IntN(3) > 0 {
		return ""
	}
	return r.one(" ", " ", "  ", "\n", "\t", "/* ), ('\" */", "-- it's ( \"\n", "# `), \\\n", "/**/", "--\t\n")
}

// space is a gap that is not empty.
func (r *randomInserts) space() string { return " " + r.gap() }

func (r *randomInserts) insert() string {
	verb := r.one("insert", "INSERT", "Insert", "replace", "REPLACE")
	update := ""
	if verb[0]|0x20 == 'i' {
		update = r.sometimes(4, r.space()+"on duplicate key update"+r.space()+r.one("n=n+1", "n = values(n)", "`n`=3,val=concat(val, 'x,(')"))
		verb += r.space() + r.sometimes(3, "ignore ")
	}
	text := r.gap() + verb + r.space() + r.sometimes(2, "into"+r.space()) + r.name("ua") + r.gap()
	columns := []string{"id", "val", "n"}
	switch r.IntN(6) {
	case 0:
		text += " set " + r.assignments(columns[r.IntN(3):])
	case 1:
		text += " " + r.rows(columns)
	default:
		r.Shuffle(3, func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		columns = columns[:1+r.IntN(3)]
		var list []string
		for _, c := range columns {
			list = append(list, r.gap()+r.name(c)+r.gap())
		}
		text += "(" + strings.Join(list, ",") + ")" + r.gap() + r.rows(columns)
	}
	return text + update + r.gap() + r.sometimes(5, ";"+r.gap())
}

func (r *randomInserts) name(name string) string {
	if r.mode.ANSIQuotes {
		return r.one(name, "`"+name+"`", `"`+name+`"`, strings.ToUpper(name[:1])+name[1:])
	}
	return r.one(name, "`"+name+"`")
}

func (r *randomInserts) assignments(columns []string) string {
	var list []string
	for _, c := range columns {
		list = append(list, r.name(c)+r.gap()+"="+r.gap()+r.value(c))
	}
	return strings.Join(list, r.gap()+","+r.gap())
}

func (r *randomInserts) rows(columns []string) string {
	var rows []string
	for range 1 + r.IntN(4) {
		var values []string
		for _, c := range columns {
			values = append(values, r.gap()+r.value(c)+r.gap())
		}
		rows = append(rows, "("+strings.Join(values, ",")+")")
	}
	return r.gap() + r.one("values", "VALUES", "value") + r.gap() + strings.Join(rows, r.gap()+","+r.gap())
}

func (r *randomInserts) value(column string) string {
	if r.params && r.IntN(6) == 0 {
		return "?"
	}
	switch column {
	case "id":
		return r.one("NULL", "null", "default", "0", "'0'", "0.4", "-0", "(0)", "1-1", "false", fmt.Sprint(2+r.IntN(90)), fmt.Sprintf("'%d'", 2+r.IntN(90)))
	case "n":
		return r.one("1", "-7", "- 7", "2.5", ".5", "1e1", "1.e-1", "NULL", "default", "(1+2)*3", "0x0f", "b'101'", "2--1", "if(1,(2),3)", "8 div (3)", "'9'", "(select 5)", "1 in (1,2)")
	}
	return r.one(r.text(), r.text(), r.text(), "NULL", "default", fmt.Sprint(r.IntN(1000)), "concat("+r.text()+","+r.text()+")", "upper("+r.gap()+r.text()+")",
		"X'6566'", "0x67", "n'h'", "_binary"+r.text(), r.text()+" "+r.text(), "(select "+r.text()+")", "case when 1 then "+r.text()+" end")
}

// text is a quoted text, of what ends texts elsewhere.
func (r *randomInserts) text() string {
	quote := "'"
	if !r.mode.ANSIQuotes {
		quote = r.one("'", "'", `"`)
	}
	pieces := []string{"a", "bc", "some longer words", ",", "(", ")", ";", "--", "#", "/*", "*/", "?", "`", " ", "null", "0", quote + quote, r.wide, r.wide}
	if !r.mode.NoBackslashEscapes {
		pieces = append(pieces, `\'`, `\"`, `\\`, `\n`, `\%`, `\0`, `\`+"`")
	} else {
		pieces = append(pieces, `\`, `\n`)
	}
	if quote == "'" {
		pieces = append(pieces, `"`)
	} else {
		pieces = append(pieces, "'")
	}
	text := fmt.Sprint(r.IntN(1 << 20)) // seldom the same twice: val is unique
	for range r.IntN(6) {
		text += r.one(pieces...)
	}
	return quote + text + quote
}

// mutated gives the statement with a part of it deleted, doubled, moved or taken
// from another one.
func (r *randomInserts) mutated(sql, other string) string {
	i, j := r.IntN(len(sql)+1), r.IntN(len(sql)+1)
	i, j = min(i, j), min(max(i, j), min(i, j)+8)
	switch r.IntN(4) {
	case 0:
		return sql[:i] + sql[j:]
	case 1:
		return sql[:j] + sql[i:]
	case 2:
		k := r.IntN(len(sql) + 1)
		return sql[:k] + sql[i:j] + sql[k:]
	}
	k := r.IntN(len(other) + 1)
	return sql[:i] + other[k:min(k+8, len(other))] + sql[j:]
}

// Random statements and mutations of them and of the corpus read alike to the
// scanner and to the TiDB parser: in their tables, columns, numbers of rows, values
// and placeholders, and in the place of each row's id.
func TestTiDBAgreesOnRandom(t *testing.T) {
	const statements = 600
	for bits := range uint8(4) {
		m := fuzzMode(bits)
		t.Run(fmt.Sprintf("ANSI_QUOTES=%v,NO_BACKSLASH_ESCAPES=%v", m.ANSIQuotes, m.NoBackslashEscapes), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			r := &randomInserts{Rand: rand.New(rand.NewPCG(seed, 0)), mode: m, wide: "\u6c49", params: true}
			whole, mutated := 0, 0
			for range statements {
				sql := r.insert()
				if tidbAgrees(t, sql, m) {
					whole++
				} else if whole == 0 {
					t.Logf("not compared: %q", sql)
				}
				other := r.one(insertCorpus...)
				sql = r.mutated(r.one(sql, other), r.one(sql, other))
				if isComparable(sql) && tidbAgrees(t, sql, m) {
					mutated++
				}
				if t.Failed() {
					return
				}
			}
			if whole < statements*9/10 || mutated < statements/10 {
				t.Errorf("of %d statements %d were compared, and %d mutated ones", statements, whole, mutated)
			}
		})
	}
}

// Random statements in the character sets in which a byte of a character may be a
// quote or a backslash to others are executed as they are and filled, as in
// TestFilledStatementsOnServers.
func TestRandomInsertsOnServers(t *testing.T) {
	const statements = 30
	charsets := map[string]string{"utf8mb4": "\u6c49", "latin1": "\xe4", "gbk": "\x81\\", "sjis": "\x83\\", "big5": "\xa5\\"}
	modes := []string{"STRICT_TRANS_TABLES", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES,NO_AUTO_VALUE_ON_ZERO", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		native, filled := connect(t, s), connect(t, s)
		mustExec(t, native, "create table ua(id bigint auto_increment primary key, val varchar(64) unique, n int default 0) auto_increment=100")
		mustExec(t, filled, "create table ua(id bigint primary key default 0, val varchar(64) unique, n int default 0)")
		both := []*sql.Conn{native, filled}
		for charset, wide := range charsets {
			for _, sqlMode := range modes {
				seed := rand.Uint64()
				m := NewMode(sqlMode, charset, s.IsMariaDB())
				r := &randomInserts{Rand: rand.New(rand.NewPCG(seed, 0)), mode: m, wide: wide}
				for _, c := range both {
					mustExec(t, c, "set sql_mode='"+sqlMode+"', character_set_client="+charset)
				}
				executed := 0
				for range statements {
					query := r.insert()
					text, err := fillLikeServer(query, m)
					if err != nil {
						t.Fatalf("seed %d, %s, sql_mode %q: %q: %v", seed, charset, sqlMode, query, err)
					}
					want, got := execute(t, native, query), execute(t, filled, text)
					if s.IsMariaDB() && want.Errno == 1062 && got.Errno == 0 && strings.Contains(strings.ToLower(query), "replace") {
						continue // its own fault: see docs/insert-ids.md
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("seed %d, %s, sql_mode %q: %q\nfilled as %q\ndiffers (-native +filled):\n%s", seed, charset, sqlMode, query, text, diff)
					}
					if want.Errno == 0 {
						executed++
					}
				}
				if executed < statements/2 {
					t.Errorf("%s, sql_mode %q: the server executed %d of %d statements", charset, sqlMode, executed, statements)
				}
			}
		}
	})
}

// The places that the first pass notes are those that a search of their own finds.
func TestParseForSameSlots(t *testing.T) {
	r := &randomInserts{Rand: rand.New(rand.NewPCG(1, 2)), wide: "\u6c49", params: true}
	for range 2000 {
		sql := []byte(r.insert())
		for _, column := range uaColumns {
			var plain, watched InsertStmt
			want, wantErr := []Slot(nil), plain.Parse(sql, r.mode)
			got, gotErr := []Slot(nil), watched.ParseFor(sql, r.mode, column, uaColumns)
			if wantErr == nil && gotErr == nil {
				want, wantErr = plain.Slots(nil, sql, column, uaColumns)
				got, gotErr = watched.Slots(nil, sql, column, uaColumns)
			}
			if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) || !slices.Equal(want, got) || !slices.Equal(plain.bound.places, watched.bound.places) {
				t.Fatalf("Slots of %s in %q: %+v, %v; after ParseFor %+v, %v", column, sql, want, wantErr, got, gotErr)
			}
		}
	}
}
