package proxy

import (
	"context"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/worker"
)

// rightFor gives what a text needs that was judged by itself, with the tables that it may change: ids come twice when
// somebody changes the row of a sequence, as they do by SETVAL.
func (s *session) rightFor(needs parser.Needs) (parser.Right, error) {
	if needs.Right != parser.RightWrite || !s.granted.now.allow(needs.Right) {
		return needs.Right, nil
	}
	for _, t := range needs.Writes {
		own, err := s.keepsIDs(t)
		if err != nil {
			return needs.Right, err
		}
		if own {
			return parser.RightAdmin, nil
		}
	}
	return needs.Right, nil
}

// keepsIDs reports whether a table has the rows of sequences or leases.
func (s *session) keepsIDs(t parser.Table) (bool, error) {
	if strings.EqualFold(t.Name, sequence.ServersTable) || strings.EqualFold(t.Name, worker.TableName) {
		return true, nil
	}
	k, schema, err := s.placeOf(t)
	if err != nil || k == nil {
		return false, err
	}
	return s.srv.catalog.keepsIDs(s.ctx, k, schema, t.Name)
}

// placeOf gives the keyspace and the database of a table; nil for one that the server will not find, or is its own. Any
// shard stands for all.
func (s *session) placeOf(t parser.Table) (k *Keyspace, schema string, err error) {
	if s.router != nil {
		k, err = s.router.ownerOf(t.Schema, t.Name)
		if err != nil || k == nil {
			return nil, "", nil // its own plan refuses it, or nothing of seqgate's is there
		}
		k = k.EachShard()[0]
		return k, k.Database, nil
	}
	if schema = t.Schema; schema != "" {
		if database, err := s.srv.databaseFor(s.keyspace, schema); err == nil {
			schema = database
		}
		return s.keyspace, schema, nil
	}
	if !s.learnDatabase() {
		if err := s.know(); err != nil {
			return nil, "", err
		}
	}
	return s.keyspace, s.state.database, nil
}

// keepsIDs reports whether a table is a sequence of the vschema's, has the columns of one, or is one of MariaDB's own.
func (c *catalog) keepsIDs(ctx context.Context, k *Keyspace, schema, table string) (bool, error) {
	if _, ok := c.declaredSequence(k, schema, table); ok {
		return true, nil
	}
	if schema == "" {
		return false, nil // the server answers 1046
	}
	e, err := c.lookup(ctx, c.owner(k, schema), schema, table)
	if err != nil {
		return false, err
	}
	return e.table.looksLikeSequence() || e.table.kind == "SEQUENCE", nil
}
