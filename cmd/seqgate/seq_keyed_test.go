package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/keyed"
)

const keyedVSchema = `{"keyspaces": {"main": {"tables": {
	"msg": {"auto_increment": {"column": "seq_no", "sequence": "msg_seq", "key": "user_id"}},
	"msg_seq": {"type": "sequence"}
}}}}`

// newKeyedPlace has the table msg, whose values seq_no count by user_id, and its sequence when init was run.
func newKeyedPlace(t *testing.T, s *servertest.Server, keyType string) *place {
	return newPlace(t, s, keyedVSchema, "CREATE TABLE msg (user_id "+keyType+", seq_no BIGINT, PRIMARY KEY (user_id, seq_no))", "INSERT INTO msg VALUES (1, 70)")
}

func TestInitKeyed(t *testing.T) {
	create := strings.ReplaceAll(keyed.CreateTableSQL("DB", "msg_seq", keyed.DefaultSections), "\n", "") + ";"
	rows := "-- main.msg_seq: its keys are to give 71 and above: a row for each section, ids from 0, next_id 71, cache 10000"
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newKeyedPlace(t, s, "INT")
		for _, run := range []struct{ args, want []string }{
			{[]string{"--dry-run"}, []string{create, rows}},
			{nil, []string{create, rows}},
			{nil, []string{"-- main.msg_seq: nothing to do, its 1024 sections are above the values in use"}},
		} {
			out, err := p.run(initCommand, run.args...)
			if err != nil {
				t.Fatalf("init %q: %v", run.args, err)
			}
			wantLines(t, out, run.want...)
		}
		if got := query1[int](t, p.db, "SELECT COUNT(*) FROM msg_seq WHERE next_id = 71"); got != keyed.DefaultSections {
			t.Errorf("%d rows that go on from 71, want %d", got, keyed.DefaultSections)
		}
		for _, args := range []string{"next msg_seq", "import leaf --from x msg_seq=k"} {
			command, rest, _ := strings.Cut(args, " ")
			_, err := p.run(seqCommand(command), strings.Fields(rest)...)
			wantError(t, p, err, 1, "sequence main.msg_seq: it counts by key, not in one row")
		}
	})
}

// Rows that came past seqgate raise the sections of their keys, and no others.
func TestKeyedBehind(t *testing.T) {
	tests := []struct {
		name, keyType, sql string
		key                string // as its section is known
	}{
		{"integer", "INT", "42", "42"},
		{"negative", "BIGINT", "-42", "-42"},
		{"zero-filled", "INT(8) UNSIGNED ZEROFILL", "42", "42"},
		{"text", "VARCHAR(20) CHARACTER SET latin1", "'Jürgen'", "Jürgen"},
		{"bytes", "VARBINARY(20)", "X'ff00fe'", "\xff\x00\xfe"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newKeyedPlace(t, s, tt.keyType)
				if _, err := p.run(initCommand); err != nil {
					t.Fatal(err)
				}
				p.exec("INSERT INTO msg VALUES (" + tt.sql + ", 71), (" + tt.sql + ", 60)")
				out, err := p.run(checkCommand)
				wantError(t, p, err, 1, "errors found: 1")
				if want := "error: main.msg_seq: 1 of 1024 sections are behind values in use, ids would repeat: run seqgate init\n"; !strings.HasPrefix(out, want) {
					t.Errorf("check: %q, want %q", out, want)
				}
				section := keyed.SectionOf([]byte(tt.key), keyed.DefaultSections)
				raised := fmt.Sprintf("-- main.msg_seq: section %d is behind: raised to next_id 72", section)
				for _, run := range []struct {
					command func() (string, error)
					want    []string
					rows    int // raised afterwards
				}{
					{func() (string, error) { return p.run(initCommand, "--dry-run") }, []string{raised}, 0},
					{func() (string, error) { return p.run(seqCommand("reset"), "msg_seq", "--dry-run") }, []string{raised}, 0},
					{func() (string, error) { return p.run(initCommand) }, []string{raised, "-- " + ops.KeyedNote}, 1},
				} {
					out, err := run.command()
					if err != nil {
						t.Fatal(err)
					}
					wantLines(t, out, run.want...)
					if got := query1[int](t, p.db, "SELECT COUNT(*) FROM msg_seq WHERE next_id = 72"); got != run.rows {
						t.Errorf("%d sections are raised, want %d", got, run.rows)
					}
				}
				if got := query1[int](t, p.db, fmt.Sprintf("SELECT next_id FROM msg_seq WHERE id = %d", section)); got != 72 {
					t.Errorf("next_id %d of section %d, want 72", got, section)
				}
				if out, err := p.run(checkCommand); err != nil {
					t.Errorf("check after init: %v\n%s", err, out)
				}
			})
		}
	})
}

func TestSeqSetKeyed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newKeyedPlace(t, s, "INT")
		_, err := p.run(seqCommand("set"), "msg_seq", "500")
		wantError(t, p, err, 1, "msg_seq does not exist")
		if _, err := p.run(seqCommand("reset"), "msg_seq"); err != nil {
			t.Fatal(err)
		}
		p.exec("UPDATE msg_seq SET next_id = 900 WHERE id = 3")
		raise := "UPDATE `DB`.`msg_seq` SET next_id = GREATEST(next_id, 500), min_value = GREATEST(min_value, 500);"
		for _, run := range []struct {
			args string
			rows int
		}{{"msg_seq 500 --dry-run", 0}, {"msg_seq 500", keyed.DefaultSections - 1}} {
			out, err := p.run(seqCommand("set"), strings.Fields(run.args)...)
			if err != nil {
				t.Fatal(err)
			}
			wantLines(t, out, raise, "-- "+ops.KeyedNote)
			if got := query1[int](t, p.db, "SELECT COUNT(*) FROM msg_seq WHERE next_id = 500"); got != run.rows {
				t.Errorf("set %s: %d sections at 500, want %d", run.args, got, run.rows)
			}
		}
		_, err = p.run(seqCommand("set"), "msg_seq", "500", "--cache", "5")
		wantError(t, p, err, 2, "it counts by key: give NEXT_ID alone")
		p.exec("ALTER TABLE msg MODIFY seq_no TINYINT")
		_, err = p.run(seqCommand("set"), "msg_seq", "128")
		wantError(t, p, err, 1, "the values of main.msg.seq_no end at 127")
		p.exec("ALTER TABLE msg MODIFY seq_no BIGINT", "INSERT INTO msg VALUES (5, 9223372036854775807)")
		_, err = p.run(initCommand)
		wantError(t, p, err, 1, "are used up: the largest is 9223372036854775807")
	})
}

func TestSeqListKeyed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newKeyedPlace(t, s, "INT")
		if _, err := p.run(initCommand); err != nil {
			t.Fatal(err)
		}
		out, err := p.run(seqCommand("list"))
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, out, "SEQUENCE      KIND                   NEXT_ID  CACHE  FILLS            MAX  USED",
			"main.msg_seq  by key, 1024 sections  -        -      main.msg.seq_no  70   -")
		out, err = p.run(seqCommand("list"), "--json")
		var got []struct {
			Kind     string
			Problems []string
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 1 || got[0].Kind != "keyed" || len(got[0].Problems) > 0 {
			t.Errorf("got %+v, %v, want a keyed one without problems", got, err)
		}
		if err != nil {
			t.Error(err)
		}
	})
}
