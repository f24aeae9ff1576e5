package parser

import "strings"

// TransactionVerb is what a statement does to transactions.
type TransactionVerb uint8

const (
	NoTransaction TransactionVerb = iota // it is no statement of transactions
	BeginTransaction
	CommitTransaction
	RollbackTransaction
	SetSavepoint
	RollbackToSavepoint
	ReleaseSavepoint
	OtherTransaction // XA and the like
)

// TransactionStmt is a statement that begins, ends or marks a transaction (MySQL
// manual, "START TRANSACTION, COMMIT, and ROLLBACK Statements" and "SAVEPOINT, ROLLBACK TO
// SAVEPOINT, and RELEASE SAVEPOINT Statements").
type TransactionStmt struct {
	Verb      TransactionVerb
	Savepoint string // its name, unquoted, in lower case as names of savepoints have no case
	Chain     bool   // AND CHAIN
	Release   bool   // RELEASE: the connection ends
	Snapshot  bool   // WITH CONSISTENT SNAPSHOT
	ReadOnly  bool   // READ ONLY
}

// ParseTransaction reads such a statement. ok is false for one that begins as such
// and goes on in a way that is not known, which the server refuses.
func ParseTransaction(sql []byte, m Mode) (t TransactionStmt, ok bool) {
	switch first, second := firstWords(sql); first {
	case "begin", "commit", "rollback", "savepoint", "xa":
	case "start":
		if second != "transaction" {
			return t, true
		}
	case "release":
		if second != "savepoint" {
			return t, true
		}
	default:
		return t, true
	}
	p := commandParser{scanner: newScanner(sql, m)}
	p.advance()
	t.read(&p)
	marks := t.Verb == SetSavepoint || t.Verb == RollbackToSavepoint || t.Verb == ReleaseSavepoint
	return t, p.t == tokenEOF && (!marks || t.Savepoint != "") || t.Verb == OtherTransaction
}

// firstWords returns the first two keywords of a text.
func firstWords(sql []byte) (first, second string) {
	var a, b keyword
	i := skipBlank(sql, 0)
	if i < 0 {
		return "", ""
	}
	word, end := a.read(sql, i)
	if i = skipBlank(sql, end); i < 0 {
		return string(word), ""
	}
	next, _ := b.read(sql, i)
	return string(word), string(next)
}

func (t *TransactionStmt) read(p *commandParser) {
	switch {
	case p.word("begin"):
		t.Verb = BeginTransaction
		p.word("work")
	case p.words("start", "transaction"):
		t.Verb = BeginTransaction
		t.characteristics(p)
	case p.word("commit"):
		t.Verb = CommitTransaction
		p.word("work")
		t.completion(p)
	case p.word("rollback"):
		t.Verb = RollbackTransaction
		p.word("work")
		if !p.word("to") {
			t.completion(p)
			return
		}
		p.word("savepoint")
		t.Verb = RollbackToSavepoint
		t.name(p)
	case p.word("savepoint"):
		t.Verb = SetSavepoint
		t.name(p)
	case p.words("release", "savepoint"):
		t.Verb = ReleaseSavepoint
		t.name(p)
	default:
		t.Verb = OtherTransaction
	}
	for t.Verb != OtherTransaction && p.t == ';' {
		p.advance()
	}
}

func (t *TransactionStmt) name(p *commandParser) {
	var table Table
	ok := false
	if table, p.t, ok = p.tableName(p.t, p.mode.Charset); ok && table.Schema == "" {
		t.Savepoint = strings.ToLower(table.Name)
	}
}

// characteristics reads what follows START TRANSACTION.
func (t *TransactionStmt) characteristics(p *commandParser) {
	for {
		switch {
		case p.words("with", "consistent", "snapshot"):
			t.Snapshot = true
		case p.words("read", "only"):
			t.ReadOnly = true
		case p.word("write"): // behind READ
		default:
			return
		}
		if p.t != ',' {
			return
		}
		p.advance()
	}
}

// completion reads what follows COMMIT and ROLLBACK.
func (t *TransactionStmt) completion(p *commandParser) {
	if p.word("and") {
		no := p.word("no")
		t.Chain = p.word("chain") && !no
	}
	no := p.word("no")
	t.Release = p.word("release") && !no
}
