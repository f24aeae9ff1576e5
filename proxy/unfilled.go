package proxy

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
