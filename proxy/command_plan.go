package proxy

import (
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/wire"
)

// planSeqgate plans a command of seqgate's own. MariaDB has sequences itself: there
// those are left to it that are not seqgate's tables.
func (x *textRunner) planSeqgate(p textPlan, verb parser.CommandVerb, sql []byte) (textPlan, error) {
	ofVSchema := verb == parser.ShowVSchema || verb == parser.AlterVSchema
	if x.MariaDB && verb == parser.CreateSequence || ofVSchema && x.srv.VSchema() == nil {
		return p, nil
	}
	mode, err := x.Readable(sql)
	if err != nil {
		return p, err
	}
	stmt, err := parser.ParseCommand(sql, mode)
	if verb == parser.SelectDecode && (err != nil || stmt.IDParam) {
		return p, errDecodeForm
	}
	if err != nil && x.MariaDB && verb != parser.ShowSeqgate && verb != parser.ShowSequences && !ofVSchema {
		return p, nil // its own syntax, or its own error
	}
	if err != nil {
		return p, err
	}
	d := commandStatement{textRunner: x, CommandStmt: stmt, mode: mode}
	run, err := d.plan()
	if run != nil {
		x.noteKind(meter.Admin)
		p.command(strings.Join(parser.Words(sql, 2), " "))
		p.run = func([]byte) error { return run() }
	}
	if ofVSchema || verb == parser.SelectDecode {
		p.effect = 0 // no server hears of it
	}
	return p, err
}

// commandStatement is a command of seqgate's own in a session.
type commandStatement struct {
	*textRunner
	parser.CommandStmt
	mode parser.Mode
}

// plan gives what runs the statement; nil when it is the server's.
func (d *commandStatement) plan() (run func() error, err error) {
	switch d.Verb {
	case parser.ShowSeqgate:
		return d.showSeqgate, nil
	case parser.SelectDecode:
		return d.selectDecode, nil
	case parser.ShowVSchema:
		return d.showVSchema, nil
	case parser.AlterVSchema:
		return d.alterVSchema, nil
	}
	if err := d.learnSchema(); err != nil {
		return nil, err
	}
	switch d.Verb {
	case parser.CreateSequence:
		return d.planCreate()
	case parser.AlterSequence:
		return d.planAlter()
	case parser.DropSequence:
		return d.planDrop()
	case parser.ShowCreateSequence:
		return d.planShowCreate()
	}
	return d.showSequences, nil
}

// learnSchema sees to it that the default database is known, if a name needs it.
func (d *commandStatement) learnSchema() error {
	if d.Schema == "" && d.needsDefault() {
		_, err := d.defaultDatabase()
		return err
	}
	return nil
}

// defaultDatabase gives the server's name of it; error 1046 when there is none.
func (d *commandStatement) defaultDatabase() (string, error) {
	if !d.learnDatabase() {
		if err := d.Know(); err != nil {
			return "", err
		}
	}
	if d.State.Database == "" {
		return "", mysql.NewDefaultError(mysql.ER_NO_DB_ERROR)
	}
	return d.State.Database, nil
}

func (d *commandStatement) needsDefault() bool {
	for _, t := range d.Tables {
		if t.Schema == "" {
			return true
		}
	}
	return len(d.Tables) == 0
}

// runText runs a statement in the place of the client's, whose answer the client gets.
func (x *textRunner) runText(text string) error {
	if err := x.SendText(text); err != nil {
		return err
	}
	return x.relayComposed(wire.ShapeResults)
}

// table gives the name of the statement's n-th sequence as SQL has it.
func (d *commandStatement) table(n int) string {
	return string(d.mode.AppendTable(nil, d.Tables[n]))
}

// literal writes a text so that it reads alike in every sql_mode and character set.
func literal(text string) string {
	if text == "" {
		return "''"
	}
	return fmt.Sprintf("_utf8mb4 0x%x", text)
}

// likeSQL returns the condition that a column matches the statement's pattern.
func (d *commandStatement) likeSQL(column string) string {
	if !d.Like.Given {
		return ""
	}
	return " AND " + column + " LIKE " + literal(d.Like.Text)
}

// showSequences is SHOW SEQUENCES: the client sees those that it may see.
func (d *commandStatement) showSequences() error {
	schema := d.Schema
	if schema == "" {
		schema = d.State.Database
	}
	alias := catalog.Quote("Sequences_in_" + schema)
	if !backend.IsPlainName(schema) {
		alias = "Sequences"
	}
	return d.runText("SELECT TABLE_NAME AS " + alias + " FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + literal(schema) +
		" AND (TABLE_TYPE = 'SEQUENCE' OR LOCATE('vitess_sequence', TABLE_COMMENT) > 0)" + d.likeSQL("TABLE_NAME") + " ORDER BY 1")
}

// matches reports whether a text is like the pattern, as LIKE has it for text in
// any case: % is any text, _ one character, \ takes the next one as it is.
func matches(p parser.Pattern, text string) bool {
	return !p.Given || isLike([]rune(strings.ToLower(p.Text)), []rune(strings.ToLower(text)))
}

// isLike goes back to the latest % only: what an earlier one could take as well, that
// one can.
func isLike(pattern, text []rune) bool {
	var behind, from []rune // what follows the latest %, and the text that it was tried on
	for len(text) > 0 || len(pattern) > 0 {
		if len(pattern) > 0 && pattern[0] == '%' {
			behind, from = pattern[1:], text
			pattern = behind
			continue
		}
		if n := likeOne(pattern, text); n > 0 {
			pattern, text = pattern[n:], text[1:]
			continue
		}
		if len(from) == 0 {
			return false
		}
		from = from[1:]
		pattern, text = behind, from
	}
	return true
}

// likeOne matches one character of the text, and gives how many of the pattern's
// stand for it; 0 when they do not.
func likeOne(pattern, text []rune) int {
	switch {
	case len(pattern) == 0 || len(text) == 0:
	case pattern[0] == '\\' && len(pattern) > 1:
		if pattern[1] == text[0] {
			return 2
		}
	case pattern[0] == '_' || pattern[0] == text[0]:
		return 1
	}
	return 0
}

// showPlan is SHOW SEQGATE PLAN in front of one server.
func (d *commandStatement) showPlan() (shown, error) {
	e, err := d.explain([]byte(d.Statement))
	return shown{columns: explanationColumns, rows: e}, err
}
