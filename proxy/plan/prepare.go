package plan

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Dynamic is what SQL's PREPARE, or MariaDB's EXECUTE IMMEDIATE, prepares.
type Dynamic struct {
	parser.PrepareStmt
	Text   []byte
	Unread bool // it has no text that can be read, and writes to no sequenced table
	exact  bool // the server reads the same bytes from a literal
}

// Expression is the value of an expression that a PREPARE takes its text from, as the server gives it: in UTF-8 where its
// character set has two or four bytes for each character, else as it is.
type Expression struct {
	Charset string
	Text    []byte
}

// errSourceNotRead is for MariaDB, where anything may give what is prepared.
var errSourceNotRead = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate cannot read what this statement prepares; SET a user variable to it first, and prepare that")

// Prepare plans what read takes for a PREPARE or an EXECUTE IMMEDIATE, as far as its text; nil when it can be nothing that needs
// seqgate. form is what it is called where it is refused, hasNamed says that the session has such statements of seqgate's.
func (p *Planner) Prepare(form string, sql []byte, hasNamed bool, read func([]byte, parser.Mode) (parser.PrepareStmt, bool)) (*Dynamic, error) {
	if err := p.RefuseDuality(sql); err != nil {
		return nil, err
	}
	if !p.Session.EnvironmentKnown && !parser.Plain(sql) && !hasNamed && bytes.IndexByte(sql, '@') < 0 {
		elsewhere, err := p.WritesElsewhere(sql, false)
		if elsewhere && err == nil {
			elsewhere, err = p.preparesElsewhere(sql)
		}
		if isMissing(err) || elsewhere && err == nil {
			return nil, err
		}
	}
	mode, err := p.reading(sql)
	if err != nil {
		return nil, err
	}
	stmt, ok := read(sql, mode)
	d := &Dynamic{PrepareStmt: stmt, Text: stmt.Text, exact: true}
	switch {
	case p.Session.MariaDB && (ok && !stmt.IsText && stmt.Expr == nil || !ok && parser.PreparesInSet(sql)):
		return nil, errSourceNotRead
	case !ok || !stmt.IsText && stmt.Expr == nil:
		return &Dynamic{PrepareStmt: stmt, Unread: true}, p.RefuseDynamicSQL(form, sql)
	case stmt.Expr == nil:
		return d, nil
	case !p.Fetched.HasExpression:
		return nil, &Missing{Fact: NeedsExpression, Query: string(stmt.Expr)}
	}
	d.Text, d.exact, err = p.Fetched.Expression.Source(p.Session.Mode)
	return d, err
}

// Source returns the text that an expression stands for. exact says that the server reads the same bytes from a literal.
func (e Expression) Source(m parser.Mode) (text []byte, exact bool, err error) {
	switch e.Charset {
	case "utf8mb4", "utf8mb3", "utf8":
		// A literal is converted to utf8mb3 on MySQL, a variable is not.
		return e.Text, !slices.ContainsFunc(bytes.Runes(e.Text), func(r rune) bool { return r > 0xffff }), nil
	}
	ascii := parser.IsASCII(e.Text)
	if e.Wide() && !ascii {
		if tables, ok := parser.Writes(nil, e.Text, m); !ok || slices.ContainsFunc(tables, namedOutsideASCII) {
			return nil, false, ErrNotRead // its table may be another one for the server
		}
	}
	return e.Text, ascii, nil
}

// Wide reports whether each character has two or four bytes. The server converts such a text to the client's character set
// before it prepares it, which changes nothing of ASCII.
func (e Expression) Wide() bool {
	return slices.Contains([]string{"ucs2", "utf16", "utf16le", "utf32"}, e.Charset)
}

func namedOutsideASCII(t parser.Table) bool { return !parser.IsASCII([]byte(t.Schema + t.Name)) }

// RefuseDynamic refuses a text for a sequenced table that the server may read in another way than seqgate, as it converts what is
// outside ASCII, and one that reads what a question of seqgate's own has changed.
func (p *Planner) RefuseDynamic(form string, d *Dynamic, b *catalog.Binding) error {
	if ReadsDiagnostics(d.Text) {
		return catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in "+form, b.Table, "read it with SELECT first")
	}
	if parser.IsASCII(d.Text) {
		return nil
	}
	if len(p.Fetched.Charsets) == 0 {
		return &Missing{Fact: NeedsCharsets}
	}
	exact := d.exact && utf8.Valid(d.Text)
	for _, name := range p.Fetched.Charsets {
		exact = exact && (name == "utf8mb4" || name == "utf8mb3" || name == "utf8")
	}
	if !exact {
		return catalog.Unsupported("an INSERT with text outside ASCII in SQL's PREPARE, but in UTF-8,", b.Table, "use placeholders for such values")
	}
	return nil
}
