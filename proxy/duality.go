package proxy

import (
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// MySQL's JSON duality views (9.4 and later) show rows of several tables as one JSON document. An UPDATE of such a view
// inserts what the new document has that the old one had not: rows without ids of a sequence. INSERTs into the view are
// refused as those into any view; for UPDATEs it is known which views may insert into sequenced tables.

// dualityUpdates gives the views that an UPDATE of this session may insert rows through.
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

// refuseDuality refuses a text that may update a JSON duality view of a sequenced table: one that names the view, and the
// column that all of them have. An UPDATE of several tables cannot be one.
func (f *statementReader) refuseDuality(sql []byte) error {
	if f.MariaDB || !mentionsAll(sql, "update", catalog.DualityColumn) {
		return nil
	}
	views, err := f.dualityUpdates()
	if err != nil {
		return err
	}
	for _, v := range views {
		if mayName(sql, v.Name) {
			return catalog.Unsupported("an UPDATE that may be of the JSON duality view '"+v.Name+"', which inserts rows", v.Table, "insert into the table itself")
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
	if !backend.IsPlainName(name) || strings.Contains(name, "`") {
		return !parser.IsASCII(sql) || strings.Contains(string(sql), "``")
	}
	return parser.ContainsWord(sql, name)
}

// updatesUnread reports whether an UPDATE may go to the server before all of it is there.
func (f *statementReader) updatesUnread(begin []byte) bool {
	if parser.Sniff(begin) != parser.Update {
		return true
	}
	views, err := f.dualityUpdates()
	return err == nil && len(views) == 0
}
