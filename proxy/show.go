package proxy

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// SHOW SEQGATE ... is answered from memory, from any session, also one in a failed
// transaction: nothing of it reaches the server but the question which of the
// client's sessions do what.

// shown is a result: the pattern of LIKE is held to the first column.
type shown struct {
	columns []wire.Column
	rows    [][]string
}

func (d *commandStatement) showSeqgate() (err error) {
	var result shown
	switch d.Topic {
	case "":
		result = showTopics()
	case "plan":
		result, err = d.showPlan()
	case "servers":
		result = d.srv.showServers()
	case "status":
		result = d.srv.showStatus()
	case "sequences":
		result = showSequences(d.srv.cfg.Sequences.Snapshot())
	case "generators":
		result = d.showGenerators()
	case "sessions":
		result, err = d.showSessions()
	case "statements":
		result = d.showStatements()
	case "vschema":
		result = showVSchema(d.srv.VSchema())
	}
	if err != nil {
		return err
	}
	result.rows = slices.DeleteFunc(result.rows, func(row []string) bool { return !matches(d.Like, row[0]) })
	return d.replyRows(result.columns, result.rows)
}

// showTopics returns what else can be shown.
func showTopics() shown {
	return shown{columns: []wire.Column{wire.TextColumn("Statement", 64), wire.TextColumn("Shows", 255)}, rows: [][]string{
		{"SHOW SEQGATE GENERATORS", "generators of the vschema: layout, worker id, lease, clock"},
		{"SHOW SEQGATE PLAN FOR 'SELECT 1'", "what would become of a statement: its ids, its shards, the text that each server gets"},
		{"SHOW SEQGATE SEQUENCES", "sequences in use: ids in memory, runway, refills, errors"},
		{"SHOW SEQGATE SERVERS", "the server of each shard: whether it answers, since when, how fast"},
		{"SHOW SEQGATE SESSIONS", "clients: what they run, where, since when"},
		{"SHOW SEQGATE STATEMENTS", "your statements without their values: calls, errors, rows, times; see statement_shapes"},
		{"SHOW SEQGATE STATUS", "this process: version, uptime, sessions, refills"},
		{"SHOW SEQGATE VSCHEMA", "tables of the vschema and what fills their columns"},
	}}
}

// showServers returns how the server of each shard stands.
func (s *keyspaces) showServers() shown {
	var all []health.Status
	if s.cfg.Health != nil {
		all = s.cfg.Health()
	}
	result := shown{columns: []wire.Column{wire.TextColumn("Keyspace", 64), wire.TextColumn("Shard", 64), wire.TextColumn("Server", 255), wire.TextColumn("State", 16),
		wire.TextColumn("Since", 32), wire.IntegerColumn("Latency_microseconds"), wire.TextColumn("Version", 128), wire.TextColumn("Last_error", 1024),
		wire.TextColumn("Paused_since", 32), wire.IntegerColumn("Waiting")}}
	for _, h := range all {
		lastError, paused, waiting := "", "", int64(0)
		if h.Err != nil {
			lastError = h.Err.Error()
		}
		for _, k := range s.shardsNamed(h.Keyspace + ":" + h.Shard) {
			p := s.pauses.of(k)
			if p == nil {
				continue
			}
			paused, waiting = p.since.UTC().Format(time.RFC3339), p.waiting.Load()
		}
		result.rows = append(result.rows, []string{h.Keyspace, h.Shard, h.Addr, string(h.State), h.Since.UTC().Format(time.RFC3339),
			strconv.FormatInt(h.Latency.Microseconds(), 10), h.Version, lastError, paused, strconv.FormatInt(waiting, 10)})
	}
	return result
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// showSequences returns the state of each sequence that this process uses.
func showSequences(all []sequence.Status) shown {
	result := shown{columns: []wire.Column{
		wire.TextColumn("Sequence", 194), wire.TextColumn("Keyspace", 64), wire.TextColumn("Strategy", 32), wire.TextColumn("Ordered", 3),
		wire.IntegerColumn("Next"), wire.IntegerColumn("Remaining"), wire.IntegerColumn("Prefetched"), wire.IntegerColumn("Cache"), wire.IntegerColumn("Step"),
		wire.IntegerColumn("Ids_per_second"), wire.IntegerColumn("Runway_seconds"), wire.IntegerColumn("Waiting"), wire.IntegerColumn("Waits"),
		wire.IntegerColumn("Refills"), wire.IntegerColumn("Dropped"), wire.IntegerColumn("Raised"), wire.IntegerColumn("Failures"),
		wire.TextColumn("Server", 255), wire.TextColumn("Away_since", 32), wire.TextColumn("Last_error", 1024),
	}}
	for _, s := range all {
		lastError, away := "", ""
		if s.LastError != nil {
			lastError = s.LastError.Error()
		}
		if !s.AwaySince.IsZero() {
			away = s.AwaySince.UTC().Format(time.RFC3339)
		}
		row := []string{s.Name.String(), s.Name.Keyspace, s.Strategy, onOff(s.Ordered)}
		for _, n := range []int64{s.Current.First, s.Current.N + s.Next.N, s.Next.N, s.Cache, s.Step, int64(s.Rate), int64(s.Runway.Seconds()),
			int64(s.Waiting), s.Waits, s.Refills, s.Dropped, s.Raised, s.Failures} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		result.rows = append(result.rows, append(row, s.Server, away, lastError))
	}
	return result
}

// showVSchema returns the tables of the vschema; none without one.
func showVSchema(v *vschema.VSchema) shown {
	result := shown{columns: []wire.Column{wire.TextColumn("Table", 129), wire.TextColumn("Type", 16),
		wire.TextColumn("Column", 64), wire.TextColumn("Sequence", 129), wire.TextColumn("Key", 64)}}
	if v == nil {
		return result
	}
	for _, k := range v.Keyspaces() {
		for _, t := range k.Tables() {
			row := []string{k.Name + "." + t.Name, cmp.Or(string(t.Type), "table"), "", "", ""}
			switch a := t.AutoIncrement; {
			case a == nil:
			case a.Generator != nil:
				row = append(row[:2], a.Column, a.Generator.Keyspace+"."+a.Generator.Name, "")
			default:
				row = append(row[:2], a.Column, a.SequenceKeyspace+"."+a.SequenceTable, a.Key)
			}
			result.rows = append(result.rows, row)
		}
	}
	return result
}
