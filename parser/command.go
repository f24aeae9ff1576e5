package parser

// CommandVerb is what a command of seqgate's own does: a statement that MySQL has not.
type CommandVerb uint8

const (
	// NoCommand is every statement that is the server's.
	NoCommand CommandVerb = iota
	CreateSequence
	AlterSequence
	DropSequence
	ShowSequences
	ShowCreateSequence
	ShowSeqgate
	ShowVSchema
	AlterVSchema
	SelectDecode // SELECT SEQGATE_DECODE(id)
)

// SniffCommand returns which of seqgate's commands a text is, by its first
// keywords. It is quick, and allocates nothing.
func SniffCommand(sql []byte) CommandVerb {
	var buf keyword
	i := skipBlank(sql, 0)
	if i < 0 {
		return NoCommand
	}
	word, end := buf.read(sql, i)
	var verb CommandVerb
	switch string(word) {
	case "create":
		verb = CreateSequence
	case "alter":
		verb = AlterSequence
	case "drop":
		verb = DropSequence
	case "show":
		return sniffShow(sql, end)
	case "select":
		if word, _ = buf.after(sql, end); string(word) == "seqgate_decode" {
			return SelectDecode
		}
		return NoCommand
	default:
		return NoCommand
	}
	word, end = buf.after(sql, end)
	if verb == CreateSequence && string(word) == "or" {
		if word, end = buf.after(sql, end); string(word) == "replace" {
			word, _ = buf.after(sql, end)
		}
	}
	switch {
	case string(word) == "sequence":
		return verb
	case string(word) == "vschema" && verb == AlterSequence:
		return AlterVSchema
	}
	return NoCommand
}

// sniffShow is SniffCommand behind SHOW.
func sniffShow(sql []byte, end int) CommandVerb {
	var buf keyword
	word, end := buf.after(sql, end)
	switch string(word) {
	case "seqgate":
		return ShowSeqgate
	case "sequences":
		return ShowSequences
	case "vschema":
		return ShowVSchema
	case "create":
		if word, _ = buf.after(sql, end); string(word) == "sequence" {
			return ShowCreateSequence
		}
	}
	return NoCommand
}

// after reads the word behind white space and comments; empty when there is none.
func (k *keyword) after(sql []byte, i int) (word []byte, end int) {
	if i = skipBlank(sql, i); i < 0 {
		return nil, len(sql)
	}
	return k.read(sql, i)
}

// A Pattern is the text behind LIKE.
type Pattern struct {
	Given bool
	Text  string // unquoted, in UTF-8
}

// CommandStmt is a command of seqgate's own.
type CommandStmt struct {
	Verb      CommandVerb
	IfExists  bool    // IF EXISTS, or IF NOT EXISTS of CREATE
	Replace   bool    // OR REPLACE
	Tables    []Table // the sequences named, or the table of SHOW VSCHEMA VINDEXES ON
	Options   SequenceOptions
	Schema    string // SHOW SEQUENCES FROM; empty when not given
	Topic     string // SHOW SEQGATE's and SHOW VSCHEMA's word, in lower case; empty of SHOW SEQGATE alone
	Like      Pattern
	VSchema   VSchemaEdit // of ALTER VSCHEMA
	Statement string      // of SHOW SEQGATE PLAN FOR
	ID        string      // of SEQGATE_DECODE, as it is written, without quotes
	IDParam   bool        // ... which is a parameter of a prepared statement
}

// ParseCommand reads a statement that SniffCommand knows:
//
//	CREATE [OR REPLACE] SEQUENCE [IF NOT EXISTS] [db.]s [option ...]
//	ALTER SEQUENCE [IF EXISTS] [db.]s option ...
//	DROP SEQUENCE [IF EXISTS] [db.]s [, [db.]s] ...
//	SHOW SEQUENCES [FROM|IN db] [LIKE 'pattern']
//	SHOW CREATE SEQUENCE [db.]s
//	SHOW SEQGATE [STATUS|SEQUENCES|GENERATORS|SERVERS|SESSIONS|STATEMENTS|VSCHEMA] [LIKE 'pattern']
//	SHOW SEQGATE PLAN FOR 'statement'
//	SHOW VSCHEMA KEYSPACES|TABLES|VINDEXES [LIKE 'pattern']
//	SHOW VSCHEMA VINDEXES FROM|ON [keyspace.]t [LIKE 'pattern']
//	ALTER VSCHEMA ...
//	SELECT SEQGATE_DECODE(id)
//
// with the options of [SequenceOptions], and the actions of [VSchemaEdit]. The error is a *SyntaxError.
func ParseCommand(sql []byte, m Mode) (CommandStmt, error) {
	stmt := CommandStmt{Verb: SniffCommand(sql)}
	p := commandParser{scanner: newScanner(sql, m), stmt: &stmt}
	p.advance()
	ok := false
	switch stmt.Verb {
	case CreateSequence, AlterSequence, DropSequence:
		ok = p.sequenceDDL()
	case ShowSequences:
		ok = p.showSequences()
	case ShowCreateSequence:
		ok = p.words("show", "create", "sequence") && p.name()
	case ShowSeqgate:
		ok = p.showSeqgate()
	case ShowVSchema:
		ok = p.showVSchema()
	case AlterVSchema:
		ok = p.alterVSchema()
	case SelectDecode:
		ok = p.decode()
	}
	for ok && p.t == ';' {
		p.advance()
	}
	if !ok || p.t != tokenEOF {
		return stmt, p.syntaxError()
	}
	return stmt, nil
}

// commandParser reads the statements of CommandStmt. t is the current token.
type commandParser struct {
	scanner
	t    token
	stmt *CommandStmt
}

func (p *commandParser) advance() { p.t = p.next() }

// word passes the keyword, if it is the current token.
func (p *commandParser) word(word string) bool {
	if !p.is(p.t, word) {
		return false
	}
	p.advance()
	return true
}

// words passes all these keywords, and reports false at the first that is missing.
func (p *commandParser) words(words ...string) bool {
	for _, word := range words {
		if !p.word(word) {
			return false
		}
	}
	return true
}

// name reads a sequence's name, which its character set has to spell: it is written again.
func (p *commandParser) name() (ok bool) {
	var table Table
	table, p.t, ok = p.tableName(p.t, p.mode.Charset)
	p.stmt.Tables = append(p.stmt.Tables, table)
	return ok && p.mode.Charset.spells(table.Schema) && p.mode.Charset.spells(table.Name)
}

func (p *commandParser) sequenceDDL() bool {
	p.advance() // the verb
	if p.word("or") {
		p.stmt.Replace = p.word("replace")
	}
	if !p.word("sequence") {
		return false
	}
	if p.word("if") {
		p.stmt.IfExists = true
		if p.stmt.Verb == CreateSequence && !p.word("not") || !p.word("exists") {
			return false
		}
	}
	if !p.name() {
		return false
	}
	if p.stmt.Verb == DropSequence {
		return p.moreNames()
	}
	options := 0
	for p.t != tokenEOF && p.t != ';' {
		if !p.option(&p.stmt.Options) {
			return false
		}
		options++
	}
	return options > 0 || p.stmt.Verb == CreateSequence
}

func (p *commandParser) moreNames() bool {
	for p.t == ',' {
		p.advance()
		if !p.name() {
			return false
		}
	}
	return true
}

func (p *commandParser) showSequences() bool {
	p.words("show", "sequences")
	if p.word("from") || p.word("in") {
		if !isName(p.t) {
			return false
		}
		name, ok := p.appendName(nil, p.t, p.mode.Charset)
		if !ok {
			return false
		}
		p.stmt.Schema = string(name)
		p.advance()
	}
	return p.like()
}

func (p *commandParser) showSeqgate() bool {
	if !p.words("show", "seqgate") {
		return false
	}
	if p.word("plan") {
		p.stmt.Topic = "plan"
		return p.planFor()
	}
	p.topic("status", "sequences", "generators", "servers", "sessions", "statements", "vschema")
	return p.like()
}

// planFor passes the statement that SHOW SEQGATE PLAN is about, as a string.
func (p *commandParser) planFor() bool {
	if !p.word("for") || p.t != tokenString {
		return false
	}
	p.stmt.Statement = string(p.appendString(nil))
	p.advance()
	return true
}

// decode passes SELECT SEQGATE_DECODE(id), where id is a number, a string or a parameter.
func (p *commandParser) decode() bool {
	if !p.words("select", "seqgate_decode") || p.t != '(' {
		return false
	}
	switch p.advance(); p.t {
	case tokenString:
		p.stmt.ID = string(p.appendString(nil))
	case tokenWord:
		p.stmt.ID = string(p.text())
	case tokenParam:
		p.stmt.IDParam = true
	default:
		return false
	}
	if p.advance(); p.t != ')' {
		return false
	}
	p.advance()
	return true
}

// topic passes one of the keywords, and notes which.
func (p *commandParser) topic(topics ...string) bool {
	for _, topic := range topics {
		if p.word(topic) {
			p.stmt.Topic = topic
			return true
		}
	}
	return false
}

// like passes LIKE and its pattern, if they are there.
func (p *commandParser) like() bool {
	if !p.word("like") {
		return true
	}
	if p.t != tokenString {
		return false
	}
	text, ok := p.mode.Charset.Decode(p.appendString(nil))
	p.stmt.Like = Pattern{Given: true, Text: text}
	p.advance()
	return ok
}
