package plan

import (
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// RefuseDuality refuses a text that may update a JSON duality view of a sequenced table: one that names the view, and the
// column that all of them have. An UPDATE of several tables cannot be one.
func (p *Planner) RefuseDuality(sql []byte) error {
	if p.Session.MariaDB || !parser.ContainsWord(sql, "update") || !parser.ContainsWord(sql, catalog.DualityColumn) {
		return nil
	}
	if !p.Fetched.HasDuality {
		return &Missing{Fact: NeedsDuality}
	}
	for _, v := range p.Fetched.Duality {
		if mayName(sql, v.Name) {
			return catalog.Unsupported("an UPDATE that may be of the JSON duality view '"+v.Name+"', which inserts rows", v.Table, "insert into the table itself")
		}
	}
	return nil
}

// mayName reports whether a name may stand in a text, whatever the text's character set.
func mayName(sql []byte, name string) bool {
	if !backend.IsPlainName(name) || strings.Contains(name, "`") {
		return !parser.IsASCII(sql) || strings.Contains(string(sql), "``")
	}
	return parser.ContainsWord(sql, name)
}
