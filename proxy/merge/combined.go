package merge

import "io"

// combined makes one row of those with equal keys, which come one after the other.
type combined struct {
	from   *ordered
	format *format
	keys   []sortKey
	totals []*total

	pending *row   // the first row of the next group; nil when it is to be read
	packet  []byte // a copy of the group's first row
	group   row    // what is made of it
	key     values // the group's keys
}

func newCombined(from *ordered, f *format, k *keys) *combined {
	c := &combined{from: from, format: f, keys: k.order}
	for _, a := range k.aggregates {
		c.totals = append(c.totals, &total{format: f, aggregate: a})
	}
	return c
}

// next returns the next group.
func (c *combined) next() (*row, error) {
	if c.pending == nil {
		w, err := c.from.next()
		if err != nil {
			return nil, err
		}
		c.pending = w
	}
	if err := c.begin(c.pending); err != nil {
		return nil, err
	}
	c.pending = nil
	for {
		w, err := c.from.next()
		switch {
		case err == io.EOF:
			return c.finish()
		case err != nil:
			return nil, err
		case compare(c.keys, &c.key, c.from.key()) != 0:
			c.pending = w
			return c.finish()
		}
		if err := c.add(w); err != nil {
			return nil, err
		}
	}
}

// begin begins a group with a copy of its first row.
func (c *combined) begin(w *row) error {
	c.packet = append(c.packet[:0], w.packet...)
	c.key.set(c.from.key())
	c.group.set(c.packet)
	if err := c.format.split(&c.group); err != nil {
		return err
	}
	for _, t := range c.totals {
		if err := t.begin(c.group.fields); err != nil {
			return err
		}
	}
	return nil
}

// add adds a row to the group.
func (c *combined) add(w *row) error {
	if len(c.totals) > 0 {
		c.group.packet = nil
	}
	for _, t := range c.totals {
		if err := t.add(c.group.fields, w.fields); err != nil {
			return err
		}
	}
	return nil
}

// finish returns the group.
func (c *combined) finish() (*row, error) {
	if c.group.packet != nil {
		return &c.group, nil // of one row
	}
	for _, t := range c.totals {
		if err := t.finish(c.group.fields); err != nil {
			return nil, err
		}
	}
	return &c.group, nil
}
