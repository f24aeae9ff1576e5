package ops

import (
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// checkOrdered tells of a sequence that one of configuration and table says to be ordered. The table's word counts for all.
func (c *checker) checkOrdered(name TableName, t *catalog.Table) {
	configured := c.cfg.Sequences.Of(name.Keyspace, name.Table).Ordered
	o, ok := sequence.ParseComment(t.Comment)
	switch {
	case !ok || configured == o.Ordered:
	case configured:
		c.note(name, "it is ordered by this configuration, and its table does not say so to others yet: the first seqgate that uses it writes that into the comment; "+
			"those that hold ids of it go on with them until their next refill")
	default:
		c.note(name, "it is ordered, as the comment of its table says")
	}
}
