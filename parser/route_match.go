package parser

// matchQualifiers finds the place of every name of the tree that has a database before it. The dotted names of the text
// and those of the tree have to be the same ones, each as often: else which is which would be a guess.
func (w *routeWalk) matchQualifiers() error {
	type count struct{ text, tree, schemas int }
	counts := map[string]*count{}
	at := func(parts []string) *count {
		key := nameKey(parts)
		c := counts[key]
		if c == nil {
			c = &count{}
			counts[key] = c
		}
		return c
	}
	for _, n := range w.names {
		c := at(n.parts)
		c.tree++
		if n.schema {
			c.schemas++
		}
	}
	for _, chain := range w.scan.chains {
		at(chain.parts()).text++
	}
	for _, c := range counts {
		if c.text != c.tree || c.schemas != 0 && c.schemas != c.tree {
			return unreadable("which of its names are those of tables is not plain: write them without the database")
		}
	}
	for _, chain := range w.scan.chains {
		if c := at(chain.parts()); c.schemas > 0 {
			q := chain[0]
			name, _ := w.scan.nameAt(q)
			w.route.Qualifiers = append(w.route.Qualifiers, RouteQualifier{name, q.start, q.end})
		}
	}
	return nil
}

func (c routeChain) parts() []string {
	parts := make([]string, len(c))
	for i, p := range c {
		parts[i] = p.name
	}
	return parts
}

// nameAt returns the name of a part as it is written, unquoted.
func (r *routeScan) nameAt(p routePart) (string, bool) {
	s := newScanner(r.sql, r.mode)
	s.end = p.start
	name, ok := s.appendName(nil, s.next(), r.mode.Charset)
	return string(name), ok
}
