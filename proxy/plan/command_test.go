package plan_test

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/sequence"
)

// commandFacts is what a server would say for the commands of a test: ours and filling are sequences, the latter fills a table;
// 2 begins with 100; other is a table of another kind.
func commandFacts(p *plan.Planner, m *plan.Missing) (asked string) {
	switch m.Fact {
	case plan.NeedsSettings:
		p.Session.EnvironmentKnown, p.Session.DatabaseKnown, p.Session.Database = true, true, "d"
		return "settings"
	case plan.NeedsDatabase:
		p.Fetched.NoDatabase = true
		return "database"
	case plan.NeedsFilledTable:
		p.Fetched.Filled = map[catalog.TableName]string{m.Table: map[string]string{"filling": "t"}[m.Table.Table]}
		return "filled by " + m.Table.Table
	}
	if p.Fetched.SequenceTables == nil {
		p.Fetched.SequenceTables = map[catalog.TableName]catalog.SequenceTable{}
	}
	p.Fetched.SequenceTables[m.Table] = map[string]catalog.SequenceTable{
		"ours":    {Exists: true, Ours: true, Comment: "vitess_sequence"},
		"filling": {Exists: true, Ours: true, Comment: "vitess_sequence"},
		"begins":  {Exists: true, Ours: true, Comment: "vitess_sequence it's kept start=100 maxvalue=900", Options: sequence.Options{Start: 100, Max: 900}},
		"umlaut":  {Exists: true, Ours: true, Comment: "vitess_sequence für"},
		"other":   {Exists: true},
	}[m.Table.Table]
	return m.Table.Schema + "." + m.Table.Table
}

// A command is planned with what the server says of the sequences that it names, and of no others.
func TestCommandPlans(t *testing.T) {
	const none = "the server's"
	const row = "CREATE TABLE `s` (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT 'vitess_sequence%s' SELECT 0 AS id, %s AS next_id, %s AS cache"
	create := func(options, next, cache string) string {
		return strings.NewReplacer("sequence%s", "sequence"+options, "0 AS id, %s", "0 AS id, "+next, "next_id, %s", "next_id, "+cache).Replace(row)
	}
	for _, tt := range []struct {
		sql     string
		mariaDB bool
		unknown bool // the session's default database
		want    string
		asks    string
		refused string
	}{
		{sql: "CREATE SEQUENCE s", want: create("", "1", "1000")},
		{sql: "CREATE SEQUENCE s", mariaDB: true, want: none},
		{sql: "CREATE SEQUENCE s START WITH 5 CACHE 0", want: create(" start=5", "5", "1")},
		{sql: "CREATE SEQUENCE s START WITH 5 MAXVALUE 4", refused: "not between MINVALUE 1 and MAXVALUE 4"},
		{sql: "CREATE SEQUENCE s START WITH -5", refused: "ids are 1 or more"},
		{sql: "CREATE SEQUENCE s INCREMENT BY 2", refused: "counts by 1"},
		{sql: "CREATE SEQUENCE s CYCLE", refused: "CYCLE"},
		{sql: "CREATE OR REPLACE SEQUENCE s", refused: "CREATE OR REPLACE"},
		{sql: "CREATE SEQUENCE s SOON", refused: "syntax"},
		{sql: "CREATE SEQUENCE s", unknown: true, asks: "database, settings", want: create("", "1", "1000")},
		{sql: "DROP SEQUENCE IF EXISTS ours, d.none", asks: "d.ours, filled by ours, d.none", want: "DROP TABLE IF EXISTS `ours`, `d`.`none`"},
		{sql: "DROP SEQUENCE other", asks: "d.other", refused: "is not SEQUENCE"},
		{sql: "DROP SEQUENCE filling", asks: "d.filling, filled by filling", refused: "while it fills table 't'"},
		{sql: "DROP SEQUENCE other", mariaDB: true, asks: "d.other", want: none},
		{sql: "DROP SEQUENCE ours, other", mariaDB: true, asks: "d.ours, filled by ours, d.other", refused: "two statements"},
		{sql: "DROP SEQUENCE e.ours", unknown: true, asks: "e.ours, filled by ours", want: "DROP TABLE `e`.`ours`"},
		{sql: "ALTER SEQUENCE begins RESTART", asks: "d.begins", want: "ALTER TABLE `begins` (restart with 100, up to 900)"},
		{sql: "ALTER SEQUENCE ours RESTART", asks: "d.ours", want: "ALTER TABLE `ours` (restart with 1, up to 0)"},
		{sql: "ALTER SEQUENCE begins START WITH 7", asks: "d.begins", want: "ALTER TABLE `begins` COMMENT = 'vitess_sequence it''s kept start=7 maxvalue=900' (restart with 0, up to 900)"},
		{sql: "ALTER SEQUENCE umlaut START WITH 7", asks: "d.umlaut", refused: "such text in its comment"},
		{sql: "ALTER SEQUENCE none RESTART WITH 7", asks: "d.none", want: "ALTER TABLE `none` (restart with 7, up to 0)"},
		{sql: "ALTER SEQUENCE none RESTART WITH 7", mariaDB: true, asks: "d.none", want: none},
		{sql: "ALTER SEQUENCE IF EXISTS none RESTART", asks: "d.none", want: "DO 0"},
		{sql: "ALTER SEQUENCE ours RESTART WITH 0", asks: "d.ours", refused: "ids are 1 or more"},
		{sql: "ALTER SEQUENCE ours MAXVALUE 9", asks: "d.ours", refused: "would not know of them"},
		{sql: "SHOW CREATE SEQUENCE ours", asks: "d.ours", want: "SELECT _utf8mb4 0x6f757273 AS `Table`"},
		{sql: "SHOW CREATE SEQUENCE other", asks: "d.other", refused: "is not SEQUENCE"},
		{sql: "SHOW SEQUENCES FROM e LIKE 'a%'", unknown: true, want: "SELECT TABLE_NAME AS `Sequences_in_e` FROM information_schema.TABLES WHERE TABLE_SCHEMA = _utf8mb4 0x65"},
		{sql: "SHOW VSCHEMA TABLES"},
		{sql: "SHOW SEQGATE STATUS"},
		{sql: "SELECT SEQGATE_DECODE(7)"},
		{sql: "SELECT SEQGATE_DECODE(7), 1", refused: "SEQGATE_DECODE(id) of one literal"},
	} {
		t.Run(tt.sql, func(t *testing.T) {
			state := backend.State{EnvironmentKnown: !tt.unknown, DatabaseKnown: !tt.unknown, Database: "d"}
			if tt.unknown {
				state.Database = ""
			}
			p := plan.Planner{Session: plan.Session{State: &state, MariaDB: tt.mariaDB}}
			var asked []string
			c, ours, err := p.Command([]byte(tt.sql), true)
			for missing := (*plan.Missing)(nil); errors.As(err, &missing) && len(asked) < 10; c, ours, err = p.Command([]byte(tt.sql), true) {
				asked = append(asked, commandFacts(&p, missing))
			}
			if got := strings.Join(asked, ", "); got != tt.asks {
				t.Errorf("asked for %q, want %q", got, tt.asks)
			}
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %v, want %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := cmp.Or(c.Text, c.Shown())
			switch {
			case !ours:
				got = none
			case got == "" && c.Verb == parser.AlterSequence:
				got = c.AlterText(c.Alter.Comment) + " (restart with " + strconv.FormatInt(c.Alter.Next, 10) + ", up to " + strconv.FormatInt(c.Alter.Max, 10) + ")"
			}
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("runs %q, want %q", got, tt.want)
			}
		})
	}
}
