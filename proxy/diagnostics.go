package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// What a statement has left (its warnings, and what ROW_COUNT() and FOUND_ROWS() give) is told by the server until the
// next statement, which may be one of seqgate's own. Where one cannot wait, what was left is read first, and told here.

// left is what the client's latest statement has left.
type left struct {
	warnings         [][]string // the rows of SHOW WARNINGS
	rows             string     // ROW_COUNT()
	found            string     // FOUND_ROWS(); empty where the server still gives it
	warned, failures string     // @@warning_count and @@error_count
}

// bytesOf returns an expression of a number as bytes in every character set of results.
func bytesOf(expression string) string {
	return "CAST(CONVERT(CONCAT(" + expression + ") USING utf8mb4) AS BINARY)"
}

// planLeft plans a statement that asks for what was kept. Any other has left something of its own.
func (x *insertRunner) planLeft(p *textPlan, kind parser.Kind, sql []byte) (done bool, err error) {
	l := x.left
	x.left = nil
	if l == nil {
		return false, nil
	}
	words := parser.Words(sql, 3)
	which := ""
	if kind == parser.Show && slices.Contains([]string{"WARNINGS", "ERRORS", "COUNT"}, words[1]) {
		which = words[1]
	}
	switch {
	case which == "COUNT", which != "" && words[2] != "", plan.IsDiagnostics(sql):
		x.left = l
		return false, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not yet support GET DIAGNOSTICS, SHOW COUNT(*) and LIMIT"+
			" behind this statement, whose insert id it had to ask for; use SHOW WARNINGS")
	case which == "":
		return false, nil
	}
	rows := l.warnings
	if which == "ERRORS" {
		rows = nil // the statement succeeded
	}
	x.left, l.rows = l, "-1"
	p.command("SHOW " + which)
	p.effect = 0
	p.run = func([]byte) error { return x.replyRows(warningColumns, rows) }
	return true, nil
}

// maxMessage is how many characters SIGNAL takes for a message.
const maxMessage = 128

// signalOwn has the server know the error that seqgate has answered the statement before with, if a text asks for what
// that has left.
func (c *serverState) signalOwn(sql []byte) error {
	e := c.failedBy
	c.failedBy = nil
	shows := parser.Sniff(sql) == parser.Show && plan.ContainsAnyWord(sql, "warnings", "errors")
	if e == nil || c.Lost || !shows && !plan.IsDiagnostics(sql) && !plan.ReadsDiagnostics(sql) {
		return nil
	}
	message := []rune(e.Message)
	err := c.Quietly(fmt.Sprintf("SIGNAL SQLSTATE '%s' SET MYSQL_ERRNO = %d, MESSAGE_TEXT = %s", e.State, e.Code,
		catalog.Literal(string(message[:min(len(message), maxMessage)]))))
	var signalled *wire.ServerError
	if errors.As(err, &signalled) {
		return nil
	}
	return err
}

// withLeft returns the text of a statement with what was left written into it, where a statement of seqgate's own has come
// between or will; nil where the text can stay.
func (f *statementReader) withLeft(sql []byte) (text []byte, err error) {
	if f.failedBy != nil {
		if err := f.signalOwn(sql); err != nil {
			return nil, err
		}
	}
	if f.left == nil && !f.State.Restore || !plan.ReadsDiagnostics(sql) {
		return nil, nil
	}
	l := f.left
	switch {
	case l != nil:
	case f.effectOf(parser.Sniff(sql), sql)&plan.MayLook == 0:
		return nil, nil
	default:
		if l, err = f.askLeft(parser.ContainsWord(sql, "found_rows")); err != nil {
			return nil, err
		}
	}
	m, err := f.Readable(sql)
	if err != nil {
		return nil, err
	}
	found := parser.FindSession(sql, m)
	if found.Uses&parser.Unread != 0 {
		return nil, nil
	}
	return found.AppendReplaced(nil, sql, func(dst []byte, c parser.SessionCall) ([]byte, bool) {
		value := ""
		switch {
		case c.Use == parser.ReadsRowCount:
			value = l.rows
		case c.Use == parser.ReadsFoundRows:
			value = l.found
		case c.Use == parser.ReadsWarnings && found.Uses&parser.ReadsTables != 0 && f.MariaDB: // its own, of which there are none yet
		case c.Use == parser.ReadsWarnings && parser.ContainsWord(sql[c.Start:c.End], "error_count"):
			value = l.failures
		case c.Use == parser.ReadsWarnings:
			value = l.warned
		}
		return fmt.Appendf(dst, "CAST(%s AS SIGNED)", value), value != ""
	}), nil
}

// askBehind asks for a number in the session, right behind a statement of the client's for which ROW_COUNT() is rows.
func (c *serverState) askBehind(rows int64, query string) (uint64, error) {
	warnings, err := c.QueryRows("SHOW WARNINGS", len(warningColumns)) // which leaves them
	if err != nil {
		return 0, err
	}
	c.left = &left{warnings: warnings, rows: strconv.FormatInt(rows, 10), warned: strconv.Itoa(len(warnings)), failures: "0"}
	row, err := c.QueryRow(query, 1)
	if err != nil || row[0] == "" {
		return 0, err
	}
	return strconv.ParseUint(row[0], 10, 64)
}

// askLeft reads what is left but the warnings themselves. MySQL warns of FOUND_ROWS(), which a text that does not name it
// would see among the counts.
func (c *serverState) askLeft(found bool) (*left, error) {
	query, columns := "SELECT "+bytesOf("ROW_COUNT()")+", @@warning_count, @@error_count", 3
	if found {
		query, columns = query+", "+bytesOf("FOUND_ROWS()"), 4
	}
	row, err := c.QueryRow(query+" LIMIT 1", columns) // whatever sql_select_limit says
	if err != nil {
		return nil, err
	}
	l := &left{rows: row[0], warned: row[1], failures: row[2]}
	if found {
		l.found = row[3]
	}
	return l, nil
}

// refuseLost refuses such a statement, once: the client knows then.
func (c *serverState) refuseLost(kind parser.Kind, sql []byte) error {
	if !c.lostUnseen {
		return nil
	}
	c.lostUnseen = false
	if !c.Lost || !plan.ReadsDiagnostics(sql) && !plan.ContainsAnyWord(sql, "diagnostics") &&
		(kind != parser.Show || !plan.ContainsAnyWord(sql, "warnings", "errors")) {
		return nil
	}
	return errLeftLost()
}
