package proxy

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// MySQL's JSON duality views (9.4 and later) show rows of several tables as one JSON document. An UPDATE of such a view
// inserts what the new document has that the old one had not: rows without ids of a sequence. INSERTs into the view are
// refused as those into any view; for UPDATEs it is known which views may insert into sequenced tables.

// dualityColumn is the column that each of them has.
const dualityColumn = "data"

// dualityView may insert rows into a sequenced table where it is updated.
type dualityView struct{ name, table string }

// dualityViews are those of one server.
type dualityViews struct {
	asked time.Time
	all   []dualityView
}

// dualityUpdates gives the views that an UPDATE of this session may insert rows through.
func (f *filler) dualityUpdates() ([]dualityView, error) {
	if f.mariaDB || !hasDuality(f.backend.Version) {
		return nil, nil
	}
	return f.srv.catalog.dualityViews(f.ctx, f.keyspace, f.targetsShard())
}

// hasDuality reports whether a MySQL server of this version may have such views. It allocates nothing.
func hasDuality(version string) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	minor, minorErr := strconv.Atoi(second)
	return err != nil || minorErr != nil || major > 9 || major == 9 && minor >= 4
}

// refuseDuality refuses a text that may update a JSON duality view of a sequenced table: one that names the view, and the
// column that all of them have. An UPDATE of several tables cannot be one.
func (f *filler) refuseDuality(sql []byte) error {
	if f.mariaDB || !mentionsAll(sql, "update", dualityColumn) {
		return nil
	}
	views, err := f.dualityUpdates()
	if err != nil {
		return err
	}
	for _, v := range views {
		if mayName(sql, v.name) {
			return unsupported("an UPDATE that may be of the JSON duality view '"+v.name+"', which inserts rows", v.table, "insert into the table itself")
		}
	}
	return nil
}

// mentionsAll reports whether each of these words stands in a text.
func mentionsAll(sql []byte, words ...string) bool {
	for _, word := range words {
		if !parser.ContainsWord(sql, word) {
			return false
		}
	}
	return true
}

// mayName reports whether a name may stand in a text, whatever the text's character set.
func mayName(sql []byte, name string) bool {
	if !isPlainName(name) || strings.Contains(name, "`") {
		return !parser.IsASCII(sql) || strings.Contains(string(sql), "``")
	}
	return parser.ContainsWord(sql, name)
}

// updatesUnread reports whether an UPDATE may go to the server before all of it is there.
func (f *filler) updatesUnread(begin []byte) bool {
	if parser.Sniff(begin) != parser.Update {
		return true
	}
	views, err := f.dualityUpdates()
	return err == nil && len(views) == 0
}

// dualityViews asks the server at most once in catalogFresh. Of a client that is alone with one shard only the tables of
// unsharded keyspaces count.
func (c *tableCache) dualityViews(ctx context.Context, k *Keyspace, alone bool) ([]dualityView, error) {
	key := dualityKey{k.String(), alone}
	c.mu.RLock()
	known, epoch := c.duality[key], c.epoch
	c.mu.RUnlock()
	if known != nil && c.now().Sub(known.asked) < catalogFresh {
		return known.all, nil
	}
	ctx, cancel := context.WithTimeout(ctx, catalogTimeout)
	defer cancel()
	asked := &dualityViews{asked: c.now()}
	var err error
	if asked.all, err = c.askDuality(ctx, k, alone); err != nil {
		return nil, &describeError{"the JSON duality views", err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch == epoch {
		c.duality[key] = asked
	}
	return asked.all, nil
}

type dualityKey struct {
	keyspace string
	alone    bool
}

func (c *tableCache) askDuality(ctx context.Context, k *Keyspace, alone bool) ([]dualityView, error) {
	type nested struct {
		view  string
		table target
	}
	var all []nested
	rows, err := k.DB.QueryContext(ctx, "SELECT DISTINCT TABLE_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME"+
		" FROM information_schema.JSON_DUALITY_VIEW_TABLES WHERE ALLOW_INSERT AND NOT IS_ROOT_TABLE")
	if catalog.IsServerError(err, mysql.ER_UNKNOWN_TABLE) { // an older server, that calls itself otherwise
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n nested
		if err := rows.Scan(&n.view, &n.table.schema, &n.table.table); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var views []dualityView
	for _, n := range all {
		owner, err := c.owner(ctx, k, n.table.schema)
		if err != nil {
			return nil, err
		}
		e, err := c.find(ctx, owner, n.table.schema, n.table.table, true)
		if err != nil {
			return nil, err
		}
		if (e.binding != nil || e.err != nil) && (!alone || e.ofUnsharded()) {
			views = append(views, dualityView{n.view, n.table.table})
		}
	}
	return views, nil
}
