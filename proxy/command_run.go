package proxy

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// planCommand plans a command of seqgate's own.
func (x *textRunner) planCommand(p textPlan, sql []byte) (textPlan, error) {
	var c plan.CommandPlan
	ours := false
	err := x.planned(func() (err error) {
		c, ours, err = x.planner.Command(sql, x.srv.VSchema() != nil)
		return err
	})
	if err != nil || !ours {
		return p, err
	}
	x.noteKind(meter.Admin)
	p.command(strings.Join(parser.Words(sql, 2), " "))
	if c.Verb == parser.ShowVSchema || c.Verb == parser.AlterVSchema || c.Verb == parser.SelectDecode {
		p.effect = 0 // no server hears of it
	}
	p.own = &c
	p.run = func([]byte) error { return (&commandStatement{textRunner: x, CommandPlan: c}).run() }
	return p, nil
}

// commandStatement is a command of seqgate's own in a session.
type commandStatement struct {
	*textRunner
	plan.CommandPlan
}

// run runs it, and answers the client.
func (d *commandStatement) run() error {
	switch d.Verb {
	case parser.ShowSeqgate:
		return d.showSeqgate()
	case parser.SelectDecode:
		return d.selectDecode()
	case parser.ShowVSchema:
		return d.showVSchema()
	case parser.AlterVSchema:
		return d.alterVSchema()
	case parser.CreateSequence:
		return d.createSequence()
	case parser.AlterSequence:
		return d.alterSequence()
	case parser.DropSequence:
		return d.dropSequences()
	}
	return d.runText(d.Text)
}

// defaultDatabase returns the server's name of it; error 1046 when there is none.
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

// runText runs a statement in the place of the client's, whose answer the client gets.
func (x *textRunner) runText(text string) error {
	if err := x.SendText(text); err != nil {
		return err
	}
	return x.relayComposed(wire.ShapeResults)
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
