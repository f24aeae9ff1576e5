package plan

import (
	"cmp"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// CommandPlan is a command of seqgate's own: what the client has written, and what follows from it for sequences.
type CommandPlan struct {
	parser.CommandStmt
	Mode     parser.Mode // in which it was read
	Database string      // the session's default one, where the command needs it

	// Text is what runs on the server in its place: all of it for DROP SEQUENCE, SHOW CREATE SEQUENCE and SHOW SEQUENCES, and
	// for ALTER SEQUENCE IF EXISTS of none.
	Text   string
	Create NewSequence
	Alter  ChangedSequence
}

// errDecodeForm refuses all but the one form of SEQGATE_DECODE.
var errDecodeForm = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate answers SEQGATE_DECODE(id) of one literal, or one parameter of a prepared statement, that is alone in a SELECT, and nothing beside it")

// Command plans a statement that [parser.SniffCommand] takes for a command of seqgate's own. It is not ours where the server
// answers it: MariaDB for sequences that are no tables of seqgate's, and where there is no vschema any server for SHOW and ALTER
// VSCHEMA, as it may be a Vitess.
func (p *Planner) Command(sql []byte, hasVSchema bool) (c CommandPlan, ours bool, err error) {
	verb := parser.SniffCommand(sql)
	ofVSchema := verb == parser.ShowVSchema || verb == parser.AlterVSchema
	if p.Session.MariaDB && verb == parser.CreateSequence || ofVSchema && !hasVSchema {
		return c, false, nil
	}
	if c.Mode, err = p.reading(sql); err != nil {
		return c, false, err
	}
	c.CommandStmt, err = parser.ParseCommand(sql, c.Mode)
	if verb == parser.SelectDecode && (err != nil || c.IDParam) {
		return c, false, errDecodeForm
	}
	ofServer := p.Session.MariaDB && verb != parser.ShowSeqgate && verb != parser.ShowSequences && !ofVSchema
	if err != nil && ofServer {
		return c, false, nil // its own syntax, or its own error
	}
	if err != nil || verb == parser.ShowSeqgate || verb == parser.SelectDecode || ofVSchema {
		return c, err == nil, err
	}
	if err := p.commandDatabase(&c); err != nil {
		return c, false, err
	}
	ours, err = p.sequenceCommand(&c)
	return c, ours, err
}

// Decode plans a SELECT SEQGATE_DECODE(id) to be prepared.
func (p *Planner) Decode(sql []byte) (NextValues, error) {
	mode, err := p.reading(sql)
	if err != nil {
		return NextValues{}, err
	}
	stmt, err := parser.ParseCommand(sql, mode)
	if err != nil {
		return NextValues{}, errDecodeForm
	}
	return NextValues{Decode: true, Key: stmt.ID, KeyParam: stmt.IDParam}, nil
}

// commandDatabase has the default database known where a name needs it: error 1046 when there is none.
func (p *Planner) commandDatabase(c *CommandPlan) error {
	if c.Schema != "" {
		return nil
	}
	needed := len(c.Tables) == 0
	for _, t := range c.Tables {
		needed = needed || t.Schema == ""
	}
	if !needed {
		return nil
	}
	known, err := p.database()
	if err == nil && !known {
		err = p.settings()
	}
	if err == nil && p.Session.Database == "" {
		err = mysql.NewDefaultError(mysql.ER_NO_DB_ERROR)
	}
	c.Database = p.Session.Database
	return err
}

// Shown returns what a plan may show of the SQL that runs in place of the command: nothing that the sequence's table says, which
// the client's account need not have a right to. CREATE SEQUENCE may begin higher: ids in use are looked for when it runs.
func (c *CommandPlan) Shown() string {
	switch c.Verb {
	case parser.CreateSequence:
		return c.CreateText(true)
	case parser.DropSequence, parser.ShowSequences:
		return c.Text
	}
	return ""
}

// Sequence returns the database and the name of the n-th sequence that the command names.
func (c *CommandPlan) Sequence(n int) catalog.TableName {
	return catalog.TableName{Schema: cmp.Or(c.Tables[n].Schema, c.Database), Table: c.Tables[n].Name}
}

// written returns the name of the n-th sequence as SQL has it.
func (c *CommandPlan) written(n int) string { return string(c.Mode.AppendTable(nil, c.Tables[n])) }

// showSequences returns the query of SHOW SEQUENCES: the client sees those that it may see.
func (c *CommandPlan) showSequences() string {
	schema := cmp.Or(c.Schema, c.Database)
	alias := catalog.Quote("Sequences_in_" + schema)
	if !backend.IsPlainName(schema) {
		alias = "Sequences"
	}
	like := ""
	if c.Like.Given {
		like = " AND TABLE_NAME LIKE " + catalog.Literal(c.Like.Text)
	}
	return "SELECT TABLE_NAME AS " + alias + " FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + catalog.Literal(schema) +
		" AND (TABLE_TYPE = 'SEQUENCE' OR LOCATE('vitess_sequence', TABLE_COMMENT) > 0)" + like + " ORDER BY 1"
}
