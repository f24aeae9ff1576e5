package proxy

import (
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// MySQL's JSON duality views (9.4 and later) show rows of several tables as one JSON document. An UPDATE of such a view
// inserts what the new document has that the old one had not: rows without ids of a sequence. INSERTs into the view are
// refused as those into any view; for UPDATEs it is known which views may insert into sequenced tables.

// dualityUpdates returns the views that an UPDATE of this session may insert rows through.
func (f *statementReader) dualityUpdates() ([]catalog.DualityView, error) {
	if f.MariaDB || !hasDuality(f.Conn.Version) {
		return nil, nil
	}
	return f.srv.catalog.DualityViews(f.ctx, f.keyspace, f.targetsShard())
}

// hasDuality reports whether a MySQL server of this version may have such views. It allocates nothing.
func hasDuality(version string) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	minor, minorErr := strconv.Atoi(second)
	return err != nil || minorErr != nil || major > 9 || major == 9 && minor >= 4
}

// updatesUnread reports whether an UPDATE may go to the server before all of it is there.
func (f *statementReader) updatesUnread(begin []byte) bool {
	if parser.Sniff(begin) != parser.Update {
		return true
	}
	views, err := f.dualityUpdates()
	return err == nil && len(views) == 0
}
