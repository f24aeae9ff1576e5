package proxy

import "github.com/seqgate/seqgate/proxy/catalog"

// tableBinding looks up how the ids of a table are made; nil when nothing is to be filled there. It asks nothing in the
// client's session.
func (f *statementReader) tableBinding(schema, table string) (*catalog.Binding, error) {
	f.unfilled = nil
	k, err := f.srv.catalog.Owner(f.ctx, f.keyspace, schema)
	if err != nil {
		return nil, err
	}
	e, err := f.srv.catalog.Find(f.ctx, k, schema, table, true)
	if err != nil {
		return nil, err
	}
	if f.targetsShard() && (k.Shard != "" || k.Shards != nil) {
		if e.Unsharded {
			return nil, e.Err
		}
		return nil, nil
	}
	if e.Binding == nil && e.Err == nil && !e.Counts {
		f.unfilled = e
	}
	return e.Binding, e.Err
}

// checkUnfilled looks again at a table whose INSERT passed without ids, when its answer has an insert id all the same: the
// table was another one by then.
func (c *serverState) checkUnfilled() {
	e := c.unfilled
	c.unfilled = nil
	if c.Answer.InsertID == 0 || c.Answer.Failed {
		return
	}
	now, err := c.srv.catalog.Suspect(c.ctx, e)
	switch {
	case now == nil && err == nil: // it was looked at already
	case err != nil:
		c.log.Warn("table not looked at again", "table", e.Key.Schema+"."+e.Key.Table, "err", err)
	case now.Binding != nil || now.Err != nil:
		c.log.Warn("an INSERT passed without ids of its sequence: its table was made anew while seqgate took it for one without a sequence; look at its latest rows",
			"table", e.Key.Schema+"."+e.Key.Table, "insert_id", c.Answer.InsertID)
	}
}

// binding looks up how a table's ids are made; nil when it has no sequence.
func (f *statementReader) binding(schema, table string) (*catalog.Binding, error) {
	if schema == "" {
		schema = f.State.Database
	}
	if schema == "" {
		return nil, nil // the server answers 1046: no database selected
	}
	b, err := f.tableBinding(schema, table)
	if f.temporary == nil || b == nil && err == nil {
		return b, err
	}
	hidden, askErr := f.isTemporary(schema, table)
	if hidden || askErr != nil {
		return nil, askErr
	}
	return b, err
}
