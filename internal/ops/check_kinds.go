package ops

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// checkStriped checks where the stripes of a sequence lie, and that they are above the ids in use. Servers that are away
// do not keep it from checking the stripes of the others.
func (c *checker) checkStriped(ctx context.Context, b binding) {
	stripes, err := c.cluster.stripes(ctx, b.sequence)
	switch {
	case err != nil && sequence.IsTemporary(err):
		c.warn(b.sequence, "its stripes there are not checked: %v", err)
	case err != nil:
		c.fail(b.sequence, "%v", err)
		return
	case len(stripes) == 0:
		c.fail(b.sequence, "no server has a stripe: run seqgate init")
		return
	default:
		c.checkSpread(b.sequence, stripes)
	}
	used, err := c.cluster.usedStripes(ctx, b, stripes)
	if err != nil {
		c.failed(b.sequence, err)
		return
	}
	for _, stripe := range stripes {
		last, known := used[stripe.Number]
		switch {
		case stripe.MovedTo != "":
			c.warn(b.sequence, "stripe %d is on its way to %s: end that with seqgate seq move", stripe.Number, stripe.MovedTo)
		case known && stripe.Next <= last:
			c.fail(b.sequence, "stripe %d is at id %d, and %d is in use, ids would repeat: run seqgate init", stripe.Number, stripe.Next, last)
		}
	}
	c.ok(b.sequence, "%s", spread(stripes))
}

// checkSpread tells of stripes and servers without each other, when all servers have answered.
func (c *checker) checkSpread(name TableName, stripes []sequence.Stripe) {
	for _, store := range c.cluster.storeNames(name) {
		if !slices.ContainsFunc(stripes, func(s sequence.Stripe) bool { return s.Server == store }) {
			c.warn(name, "server %s has no stripe, it gives no ids: seqgate seq move gives it one", store)
		}
	}
	var missing []string
	for number := 1; number <= c.cluster.layout(name).Stripes; number++ {
		if !slices.ContainsFunc(stripes, func(s sequence.Stripe) bool { return s.Number == number }) {
			missing = append(missing, fmt.Sprint(number))
		}
	}
	if len(missing) > 0 {
		c.warn(name, "no server has the stripes %s: they are lost for good, or moved to a server that is not configured", strings.Join(missing, ", "))
	}
}

// spread says how many stripes there are on how many servers.
func spread(stripes []sequence.Stripe) string {
	servers := map[string]bool{}
	for _, stripe := range stripes {
		servers[stripe.Server] = true
	}
	return fmt.Sprintf("%d stripes on %d servers", len(stripes), len(servers))
}

// stripes lists the stripes of a sequence. It returns what it found also with an error.
func (c *Cluster) stripes(ctx context.Context, name TableName) (stripes []sequence.Stripe, err error) {
	k, err := c.unsharded(name.Keyspace)
	if err != nil {
		return nil, err
	}
	striped, closeAll, err := OpenStriped(c.cfg, name, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	return striped.Stripes(ctx, k.Shards[0].DSN.DBName, name.Table)
}

// usedStripes reads the largest id of each stripe among those in use that are not below all stripes.
func (c *Cluster) usedStripes(ctx context.Context, b binding, stripes []sequence.Stripe) (map[int]int64, error) {
	used := map[int]int64{}
	if len(stripes) == 0 {
		return used, nil
	}
	l, from := c.layout(b.sequence), leastNext(stripes)
	places, err := c.locate(b)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		t, ok := p.server.table(p.Table)
		if !ok {
			continue
		}
		column, err := filledColumn(t, p.column)
		if err != nil {
			return nil, err
		}
		id := idSQL(column)
		err = p.server.eachMax(ctx, fmt.Sprintf("SELECT %s DIV %d MOD %d + 1, MAX(%[1]s) FROM %[4]s WHERE %[1]s >= %[5]d GROUP BY 1",
			id, l.Chunk, l.Stripes, p.server.quoted(p.Table), from), func(stripe int, last int64) { used[stripe] = max(used[stripe], last) })
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", p.server.named(p.Table), err)
		}
	}
	return used, nil
}

// eachMax calls do with the two columns of each row that the query answers.
func (s *Server) eachMax(ctx context.Context, query string, do func(group int, largest int64)) error {
	rows, err := s.DB.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var group int
		var text sql.NullString
		if err := rows.Scan(&group, &text); err != nil {
			return err
		}
		largest, err := clampID(text)
		if err != nil {
			return err
		}
		do(group, largest)
	}
	return rows.Err()
}

// leastNext is the smallest id that one of the stripes would give next.
func leastNext(stripes []sequence.Stripe) int64 {
	return slices.MinFunc(stripes, func(a, b sequence.Stripe) int { return cmp.Compare(a.Next, b.Next) }).Next
}

// checkKeyed checks the table of a keyed sequence, and that no key has a value in use which it would give again.
func (c *checker) checkKeyed(ctx context.Context, s *Server, b binding) {
	if err := keyed.Check(ctx, s.DB, s.database, b.sequence.Table); err != nil {
		c.failed(b.sequence, err)
		return
	}
	next, of, err := c.cluster.behind(ctx, s, b)
	switch {
	case err != nil:
		c.failed(b.sequence, err)
	case len(next) > 0:
		c.fail(b.sequence, "%d of %d sections are behind values in use, ids would repeat: run seqgate init", len(next), of)
	default:
		c.ok(b.sequence, "counts by key, %d sections", of)
	}
}

// checkFailover checks the table by which failover_skip knows the servers.
func (c *checker) checkFailover(ctx context.Context, s *Server, name TableName) {
	if c.cfg.Sequences.Of(name.Keyspace, name.Table).FailoverSkip == 0 {
		return
	}
	if _, ok := s.table(sequence.ServersTable); !ok {
		c.warn(name, "the table %s, which failover_skip needs, is missing: it is made when first used; if seqgate's account may not create tables, run %s",
			sequence.ServersTable, sequence.ServersTableSQL(s.database))
		return
	}
	table := s.quoted(sequence.ServersTable)
	for _, statement := range []string{"INSERT INTO " + table + " (sequence, row_id, server) VALUES ('', 0, '')",
		"UPDATE " + table + " SET server = server WHERE sequence = ''"} {
		if err := s.explain(ctx, statement); err != nil {
			c.failed(name, fmt.Errorf("failover_skip needs SELECT, INSERT and UPDATE on the table %s: %w", sequence.ServersTable, err))
			return
		}
	}
}

// explain has the server plan a statement, which needs the same rights as to run it, and changes nothing.
func (s *Server) explain(ctx context.Context, statement string) error {
	plan, err := s.conn.QueryContext(ctx, "EXPLAIN "+statement)
	if err != nil {
		return err
	}
	return plan.Close()
}
