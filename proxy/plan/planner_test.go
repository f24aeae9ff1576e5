package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/sequence"
)

// server is what a test's server would say: its tables with a sequence are orders and v.
type server struct {
	known   map[string]bool // tables that need not be asked for
	columns []string
	state   backend.State
	asked   []string

	variables  map[string]plan.Expression
	ansiQuotes bool
}

var facts = map[plan.Fact]string{plan.NeedsSettings: "settings", plan.NeedsLastID: "last id", plan.NeedsDatabase: "database", plan.NeedsTable: "table",
	plan.NeedsTableAnew: "table anew", plan.NeedsTemporary: "temporary", plan.NeedsVariables: "variables", plan.NeedsDuality: "duality", plan.NeedsCharset: "charset",
	plan.NeedsExpression: "expression", plan.NeedsCharsets: "charsets", plan.NeedsSource: "source", plan.NeedsCallSource: "call source"}

func (s *server) Known(_, table string) (plan.Table, bool) {
	if !s.known[table] {
		return plan.Table{}, false
	}
	if table != "orders" && table != "v" {
		return plan.Table{}, true
	}
	return plan.Table{Binding: &catalog.Binding{Table: table, Column: "id", Columns: s.columns, Max: 1 << 40, Transactional: true,
		Sequence: sequence.Name{Database: "d", Table: table + "_seq"}}}, true
}

// Source knows orders_seq, and own, which is a sequence of the server's.
func (s *server) Source(_, name string, _ bool) (catalog.Source, bool) {
	return catalog.Source{Name: sequence.Name{Database: "d", Table: name}, Ours: name == "orders_seq"}, s.known[name]
}

// fetch does what package proxy does with a *plan.Missing, and notes it.
func (s *server) fetch(p *plan.Planner, m *plan.Missing) {
	name := facts[m.Fact]
	switch m.Fact {
	case plan.NeedsSettings, plan.NeedsLastID:
		s.state.EnvironmentKnown, s.state.DatabaseKnown, s.state.Database, s.state.LastIDKnown = true, true, "d", true
		p.Fetched.Asked = true
		s.state.Mode.ANSIQuotes = s.ansiQuotes
	case plan.NeedsDatabase:
		s.state.Database, s.state.DatabaseKnown = "d", true
	case plan.NeedsTable, plan.NeedsTableAnew:
		name += " " + m.Table.Schema + "." + m.Table.Table
		s.known[m.Table.Table] = true
		if m.Fact == plan.NeedsTableAnew {
			s.columns, p.Fetched.Anew = []string{"id", "v", "w"}, true
		}
	case plan.NeedsSource, plan.NeedsCallSource:
		name += " " + m.Table.Schema + "." + m.Table.Table
		s.known[m.Table.Table] = true
	case plan.NeedsTemporary:
		p.Fetched.Temporary = map[catalog.TableName]bool{m.Table: false}
	case plan.NeedsVariables:
		p.Fetched.Variables = plan.Copied{Rows: m.Rows, Names: m.Names, Mode: m.Mode, Slots: slices.Repeat([]parser.Slot{{State: parser.Open}}, len(m.Rows))}
	case plan.NeedsDuality:
		p.Fetched.Duality, p.Fetched.HasDuality = []catalog.DualityView{{Name: "orders_json", Table: "orders"}}, true
	case plan.NeedsExpression:
		p.Fetched.Expression, p.Fetched.HasExpression = s.variables[m.Query], true
	case plan.NeedsCharsets:
		p.Fetched.Charsets = []string{"utf8mb4", "utf8mb4"}
	case plan.NeedsCharset:
		p.Fetched.Charset, p.Fetched.HasCharset = "utf8mb4", true
	}
	s.asked = append(s.asked, name)
}

// A plan is made without asking for more than it goes by, and says what that is.
func TestPlansAskForWhatTheyNeed(t *testing.T) {
	t.Parallel()
	const fresh, used, changed = 0, 1, 2 // the session; changed: by a SET sql_mode = 'ANSI_QUOTES'
	for _, tt := range []struct {
		sql       string
		session   int
		temporary bool
		mariaDB   bool
		kind      plan.Kind
		asks      string
		refused   string
	}{
		{sql: "INSERT INTO plain VALUES (1)", session: used, kind: plan.Pass, asks: "table d.plain"},
		{sql: "INSERT INTO plain VALUES (1)", session: fresh, kind: plan.Pass, asks: "database, table d.plain"},
		{sql: "INSERT INTO orders (v) VALUES (1)", session: used, kind: plan.Filled, asks: "table d.orders"},
		{sql: "INSERT INTO orders (v) VALUES (1)", session: fresh, kind: plan.Filled, asks: "database, table d.orders, settings"},
		{sql: "INSERT INTO e.orders (id, v) VALUES (NULL, 'x')", session: fresh, kind: plan.Filled, asks: "table e.orders, settings"},
		{sql: "INSERT INTO orders (id, v) VALUES (7, 1)", session: used, kind: plan.Report, asks: "table d.orders"},
		{sql: "INSERT INTO orders (id, v) VALUES (@a, 1), (7, 1), (@b, 2)", session: used, kind: plan.Filled, asks: "table d.orders, variables"},
		{sql: "INSERT INTO orders VALUES (NULL, 1, 2)", session: used, kind: plan.Filled, asks: "table d.orders, table anew d.orders"},
		{sql: "INSERT INTO orders VALUES (NULL, 1, 2, 3)", session: used, asks: "table d.orders, table anew d.orders", refused: "Column count"},
		{sql: "INSERT INTO orders (v) SELECT v FROM plain", session: used, kind: plan.Query, asks: "table d.orders"},
		{sql: "INSERT INTO orders (v) VALUES (1)", session: used, temporary: true, kind: plan.Filled, asks: "table d.orders, temporary"},
		{sql: "INSERT INTO plain VALUES (1)", session: used, temporary: true, kind: plan.Pass, asks: "table d.plain"},
		{sql: "INSERT INTO orders (id, v) VALUES (v + 1, 1)", session: used, asks: "table d.orders", refused: "an expression"},
		{sql: `INSERT INTO "orders" (v) VALUES (1)`, session: changed, kind: plan.Filled, asks: "table d.orders, settings"},
		{sql: `INSERT INTO "orders" (v) VALUES (ROW_COUNT())`, session: changed, asks: "table d.orders, settings", refused: "ROW_COUNT()"},
		{sql: "INSERT INTO orders (v) VALUES (ROW_COUNT())", session: changed, kind: plan.Filled, asks: "table d.orders"},
		{sql: "INSERT INTO orders (v) VALUES (ROW_COUNT())", session: used, kind: plan.Filled, asks: "table d.orders"},
		{sql: "UPDATE orders_json SET data = '{}'", session: used, asks: "duality", refused: "duality view"},
		{sql: "UPDATE orders_json SET data = '{}'", session: used, mariaDB: true},
		{sql: "UPDATE plain SET v = 1", session: used},
		{sql: "LOAD DATA LOCAL INFILE 'f' INTO TABLE orders (v)", session: used, kind: plan.Command, asks: "table d.orders, charset"},
		{sql: "LOAD DATA INFILE 'f' INTO TABLE plain", session: fresh, asks: "database, table d.plain"},
		{sql: "LOAD DATA INFILE 'f' INTO TABLE orders", session: fresh, asks: "database, table d.orders, settings", refused: "LOCAL"},
		{sql: "SELECT NEXT VALUE FROM orders_seq", session: used, kind: plan.Next, asks: "source d.orders_seq"},
		{sql: "SELECT NEXT 5 VALUES FOR e.orders_seq", session: fresh, kind: plan.Next, asks: "source e.orders_seq"},
		{sql: "SELECT NEXT VALUE FROM orders_seq FOR KEY 'a'", session: fresh, kind: plan.Next, asks: "settings, source d.orders_seq"},
		{sql: "SELECT NEXT VALUE FROM own", session: fresh, asks: "database, source d.own"},
		{sql: "SELECT NEXT VALUE FROM orders_seq LIMIT 1", session: used, asks: "source d.orders_seq", refused: "syntax"},
		{sql: "SELECT NEXT 0 VALUES FROM orders_seq", session: used, asks: "source d.orders_seq", refused: "0"},
		{sql: "SELECT NEXTVAL(orders_seq)", session: fresh, kind: plan.Next, asks: "database, call source d.orders_seq"},
		{sql: "SELECT NEXTVAL(own), LASTVAL()", session: used, asks: "call source d.own"},
		{sql: "SELECT 1, orders_seq.NEXTVAL", session: used, kind: plan.Filled, asks: "call source d.orders_seq"},
		{sql: "SELECT NEXTVAL(orders_seq) FROM t", session: used, asks: "call source d.orders_seq", refused: "take the values first"},
		{sql: "PREPARE s FROM 'INSERT INTO orders (v) VALUES (1)'", session: used, kind: plan.Command, asks: "table d.orders"},
		{sql: "PREPARE s FROM @latin", session: used, kind: plan.Command, asks: "expression, table d.orders, charsets", refused: "outside ASCII"},
		{sql: "PREPARE s FROM @utf8", session: used, kind: plan.Command, asks: "expression, table d.orders, charsets"},
		{sql: "PREPARE s FROM @wide", session: used, asks: "expression", refused: "cannot read where"},
		{sql: "PREPARE s FROM @counts", session: used, asks: "expression, table d.orders", refused: "ROW_COUNT()"},
		{sql: "PREPARE s FROM @a", session: fresh, kind: plan.Pass, asks: "expression, database, table d.plain"},
		{sql: "PREPARE s FROM CONCAT(@a)", session: used, mariaDB: true, kind: plan.Pass, asks: "expression, table d.plain"},
		{sql: "PREPARE s FROM f(1)", session: used, mariaDB: true, refused: "cannot read what"},
		{sql: `PREPARE s FROM "INSERT INTO e.plain VALUES ('x')"`, session: fresh, asks: "table e.plain", kind: plan.Pass},
	} {
		s := &server{variables: variables, known: map[string]bool{}, columns: []string{"id", "v"}, ansiQuotes: tt.session == changed}
		if tt.session != fresh {
			s.state = backend.State{EnvironmentKnown: tt.session == used, Database: "d", DatabaseKnown: true, LastIDKnown: true}
		}
		s.state.Mode.MariaDB = tt.mariaDB
		p := plan.Planner{Session: plan.Session{State: &s.state, MariaDB: tt.mariaDB, Temporary: tt.temporary, QueryNames: "q"}, Tables: s}
		kind, err := planned(&p, tt.sql)
		for missing := (*plan.Missing)(nil); errors.As(err, &missing) && len(s.asked) < 10; {
			s.fetch(&p, missing)
			kind, err = planned(&p, tt.sql)
		}
		switch {
		case tt.refused == "" && err != nil, tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)):
			t.Errorf("%s: error %v, want %q", tt.sql, err, tt.refused)
		case tt.refused == "" && kind != tt.kind:
			t.Errorf("%s: kind %d, want %d", tt.sql, kind, tt.kind)
		}
		if asked := strings.Join(s.asked, ", "); asked != tt.asks {
			t.Errorf("%s: asked for %q, want %q", tt.sql, asked, tt.asks)
		}
	}
}

// variables are user variables of the plans' session.
var variables = map[string]plan.Expression{
	"@a":         {Charset: "latin1", Text: []byte("INSERT INTO plain VALUES (1)")},
	"CONCAT(@a)": {Charset: "latin1", Text: []byte("INSERT INTO plain VALUES (1)")},
	"@latin":     {Charset: "latin1", Text: []byte("INSERT INTO orders (v) VALUES ('\xe9')")},
	"@utf8":      {Charset: "utf8mb4", Text: []byte("INSERT INTO orders (v) VALUES ('é')")},
	"@wide":      {Charset: "utf16", Text: []byte("INSERT INTO é (v) VALUES ('é')")},
	"@counts":    {Charset: "utf8mb4", Text: []byte("INSERT INTO orders (v) VALUES (ROW_COUNT())")},
}

func planned(p *plan.Planner, sql string) (plan.Kind, error) {
	text := []byte(sql)
	switch parser.Sniff(text) {
	case parser.Next, parser.Select:
		c, err := p.Calls(text, false)
		switch {
		case c == nil && err == nil && parser.Sniff(text) == parser.Next:
			_, _, err = p.Next(text)
			return plan.Pass, err
		case c == nil:
			return plan.Pass, err
		case c.Whole:
			return plan.Next, err
		}
		return plan.Filled, err // with values
	case parser.Update:
		return plan.Pass, p.RefuseDuality(text)
	case parser.Prepare:
		d, err := p.Prepare("an INSERT in PREPARE", text, false, parser.ParsePrepare)
		if d == nil || err != nil {
			return plan.Pass, err
		}
		in, err := p.Insert(0, d.Text, true)
		if err != nil || in.Fill.Binding == nil {
			return plan.Pass, err
		}
		return plan.Command, p.RefuseDynamic("an INSERT in PREPARE", d, in.Fill.Binding)
	case parser.Load:
		l, err := p.Load(text)
		if l == nil {
			return plan.Pass, err
		}
		return plan.Command, err
	}
	in, err := p.Insert(0, text, false)
	return in.Kind, err
}
