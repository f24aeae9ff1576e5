package catalog

import (
	"context"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// DualityColumn is the column that each of them has.
const DualityColumn = "data"

// DualityView may insert rows into a sequenced table where it is updated.
type DualityView struct{ Name, Table string }

// dualityViews are those of one server.
type dualityViews struct {
	asked time.Time
	all   []DualityView
}

// DualityViews asks the server at most once in Fresh. Of a client that is alone with one shard only the tables of
// unsharded keyspaces count.
func (c *Cache) DualityViews(ctx context.Context, k *Keyspace, alone bool) ([]DualityView, error) {
	key := dualityKey{k.String(), alone}
	c.mu.RLock()
	known, epoch := c.duality[key], c.epoch
	c.mu.RUnlock()
	if known != nil && c.Now().Sub(known.asked) < Fresh {
		return known.all, nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	asked := &dualityViews{asked: c.Now()}
	var err error
	if asked.all, err = c.askDuality(ctx, k, alone); err != nil {
		return nil, &DescribeError{"the JSON duality views", err}
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

func (c *Cache) askDuality(ctx context.Context, k *Keyspace, alone bool) ([]DualityView, error) {
	type nested struct {
		view  string
		table TableName
	}
	var all []nested
	rows, err := k.DB.QueryContext(ctx, "SELECT DISTINCT TABLE_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME"+
		" FROM information_schema.JSON_DUALITY_VIEW_TABLES WHERE ALLOW_INSERT AND NOT IS_ROOT_TABLE")
	if IsServerError(err, mysql.ER_UNKNOWN_TABLE) { // an older server, that calls itself otherwise
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n nested
		if err := rows.Scan(&n.view, &n.table.Schema, &n.table.Table); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var views []DualityView
	for _, n := range all {
		owner, err := c.Owner(ctx, k, n.table.Schema)
		if err != nil {
			return nil, err
		}
		e, err := c.Find(ctx, owner, n.table.Schema, n.table.Table, true)
		if err != nil {
			return nil, err
		}
		if (e.Binding != nil || e.Err != nil) && (!alone || e.ofUnsharded()) {
			views = append(views, DualityView{n.view, n.table.Table})
		}
	}
	return views, nil
}
