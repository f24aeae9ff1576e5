package proxy

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// show answers such a SHOW.
func (r *sessionRouter) show(attributes, sql []byte, m parser.Mode) error {
	words := parser.Words(sql, 4)
	switch words[1] {
	case "WARNINGS", "ERRORS":
		return r.showWarnings(attributes, sql, words[1], words[2] == "")
	case "COUNT":
		if r.last != nil {
			return r.showLast(attributes, sql)
		}
		return r.Unsupported("SHOW COUNT(*) of a statement on several shards", "use SHOW WARNINGS")
	}
	return r.showDatabases(sql, m)
}

// showLast has the connection that ran the latest statement tell of it.
func (r *sessionRouter) showLast(attributes, sql []byte) error {
	conn, err := r.leftOn()
	if err != nil {
		return err
	}
	return r.passTo(conn, attributes, sql)
}

// showWarnings is SHOW WARNINGS or SHOW ERRORS: of a statement that several connections ran,
// those of all of them, one after the other.
func (r *sessionRouter) showWarnings(attributes, sql []byte, which string, plain bool) error {
	switch {
	case r.last != nil:
		return r.showLast(attributes, sql)
	case !plain:
		return r.Unsupported("LIMIT in SHOW "+which+" of a statement on several shards", "leave it out")
	}
	if r.warned == nil {
		if err := r.keepWarnings(r.several); err != nil {
			return err
		}
	}
	rows := r.warned.rows
	if which == "ERRORS" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return row[0] != "Error" })
	}
	return r.s.replyRows(warningColumns, rows)
}

// warnings are those of one statement.
type warnings struct{ rows [][]string }

// warningColumns are those of SHOW WARNINGS.
var warningColumns = []wire.Column{wire.TextColumn("Level", 7),
	{Name: "Code", Type: mysql.MYSQL_TYPE_LONG, Length: 4, Unsigned: true}, wire.TextColumn("Message", 512)}

// keepWarnings reads the warnings of the statement that connections have just run: the next
// one, if only a COMMIT, has a server forget them.
func (r *sessionRouter) keepWarnings(conns []*executor) error {
	var all warnings
	for _, conn := range conns {
		if conn.Lost {
			continue
		}
		of, err := conn.QueryRows("SHOW WARNINGS", len(warningColumns))
		if err != nil {
			return err
		}
		all.rows = append(all.rows, of...)
	}
	r.warned = &all
	return nil
}

// showDatabases is SHOW DATABASES in a sharded keyspace: the names under which a client
// reaches something, which are the keyspaces.
func (r *sessionRouter) showDatabases(sql []byte, m parser.Mode) error {
	like, ok := parser.ShowLike(sql, m)
	if !ok {
		return r.Unsupported("WHERE in SHOW DATABASES", "use LIKE")
	}
	label := "Database"
	if like.Given {
		label += " (" + like.Text + ")"
	}
	names := slices.Sorted(maps.Keys(r.Keyspaces))
	var rows [][]string
	for _, name := range append(names, "information_schema") {
		if matches(like, name) {
			rows = append(rows, []string{name})
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	r.ran(-1, uint64(len(rows)))
	return r.s.replyRows([]wire.Column{wire.TextColumn(label, 64)}, rows)
}

// ping is answered here: which servers are there is of no one command's concern.
func (r *sessionRouter) ping() error {
	if _, err := r.s.takeCommand(); err != nil {
		return err
	}
	return r.s.replyOK(wire.OK{Status: r.status()})
}

// passAny passes a command to one shard of the current keyspace.
func (r *sessionRouter) passAny(code byte) error {
	body, err := r.s.takeCommand()
	if err != nil {
		return err
	}
	conn, err := r.anyShard(r.Shards()[0], r.conn)
	if err != nil {
		return err
	}
	as := wire.ShapeSingle
	switch code {
	case mysql.COM_FIELD_LIST:
		as = wire.ShapeFieldList
	case mysql.COM_PROCESS_INFO:
		as = wire.ShapeResults
	}
	return r.on(conn, func() error {
		if err := conn.Send(append([]byte{code}, body...)); err != nil {
			return err
		}
		return conn.relay(as)
	})
}
