//go:build !slim

package demoengine

import (
	"strings"

	"github.com/dolthub/vitess/go/mysql"
)

// usesTables tells whether a statement may look at a table, by its keywords; when in doubt it may. A
// client's greeting (SET NAMES, SELECT @@version_comment) and a BEGIN do not.
func usesTables(query string) bool {
	switch first, text := keywords(query); first {
	case "select", "set", "use":
		return strings.Contains(text, "from")
	case "show":
		return !strings.HasPrefix(text, "show variables") && !strings.HasPrefix(text, "show warnings")
	case "begin", "start", "commit", "rollback":
		return false
	}
	return true
}

// onlyReads tells whether a statement surely changes no row and asks for no row lock.
func onlyReads(query string) bool {
	switch first, text := keywords(query); first {
	case "show", "set", "use", "desc", "describe", "explain":
		return true
	case "select":
		return !strings.Contains(text, "for update") && !strings.Contains(text, "for share") &&
			!strings.Contains(text, "lock in share mode")
	}
	return false
}

// errPrepare is in the place of the engine's answer to SQL's PREPARE, which no client can read.
var errPrepare = mysql.NewSQLError(mysql.ERNotSupportedYet, mysql.SSClientError,
	"the demo's engine has no PREPARE in SQL; drivers' prepared statements work, and PREPARE does where seqgate is in front of a server")

// refusePrepare refuses PREPARE, EXECUTE and DEALLOCATE PREPARE.
func refusePrepare(query string) error {
	switch first, _ := keywords(query); first {
	case "prepare", "execute", "deallocate":
		return errPrepare
	}
	return nil
}

// withoutDo returns a DO, which the engine does not have, as the SELECT whose rows it drops.
func withoutDo(query string) (text string, was bool) {
	if first, _ := keywords(query); first != "do" {
		return query, false
	}
	return "SELECT" + strings.TrimLeft(query, " \t\r\n")[len("do"):], true
}

// keywords returns a statement's first word and, unless it is longer than any that matter here, its
// whole text, both in lower case and the text with single spaces between words.
func keywords(query string) (first, text string) {
	const longest = 4096
	query = strings.TrimLeft(query, " \t\r\n")
	end := strings.IndexAny(query, " \t\r\n;(")
	if end < 0 {
		end = len(query)
	}
	if len(query) > longest {
		return "", ""
	}
	return strings.ToLower(query[:end]), strings.ToLower(strings.Join(strings.Fields(query), " "))
}
