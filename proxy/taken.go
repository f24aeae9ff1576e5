package proxy

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// An id that a sequence gives may be in the table by then: a client wrote it itself,
// through another seqgate, while this one held it in memory. The server says so by error
// 1062. Then the memory is skipped up to what is in the table, and the statement is sent
// again with other ids where nobody can tell.

// lookPause is how long a table is not looked through again after statements that left
// rows out.
const lookPause = 200 * time.Millisecond

// maxTaken bounds how far above the ids in memory stored ones are looked for.
const maxTaken = 1 << 20

// repeats reports whether the statement in s.planner.Stmt, with this text, may be run twice
// without anybody seeing it, when the first run was undone.
func (f *insertWriter) repeats(sql []byte, p *plan.Fill) bool {
	return p.Binding.Transactional && !p.Ignore && !p.Upsert && !p.Replace && !p.FromQuery && !p.Returning && !p.Variables && p.Bound == nil &&
		!p.ReadsLastID && bytes.IndexByte(sql, '@') < 0 && !plan.ReadsDiagnostics(sql) && callsPlainly(sql, f.planner.Stmt.Table)
}

// repeatsSent reports whether the statement that was sent may be sent again.
func (f *insertWriter) repeatsSent(p *plan.Fill) bool {
	switch {
	case p.Highest > 0:
		return false // one of its own ids may be the one
	case p.Sent == plan.SentText:
		return f.repeats(f.scratch[wire.HeaderSize:], p)
	}
	return p.Sent == plan.SentExecute
}

// plainCalls are functions, and other words before a parenthesis, that change nothing.
var plainCalls = func() map[string]bool {
	plain := make(map[string]bool)
	for word := range strings.FieldsSeq("values value in and or not as is if ifnull nullif coalesce case when then else now current_timestamp localtime localtimestamp " +
		"curdate current_date curtime current_time sysdate utc_timestamp utc_date utc_time unix_timestamp from_unixtime date time timestamp datetime date_add date_sub " +
		"date_format str_to_date interval uuid uuid_to_bin unhex hex md5 sha1 sha2 concat concat_ws lower upper trim left right substring length char_length replace repeat " +
		"cast convert json_object json_array json_quote json_extract inet_aton inet6_aton round floor ceil ceiling abs mod rand crc32 default last_insert_id st_geomfromtext point") {
		plain[word] = true
	}
	return plain
}()

// callsPlainly reports whether all that a text calls are functions that change nothing.
// It may miss one within a string or behind a comment, and then says no.
func callsPlainly(sql []byte, table string) bool {
	if bytes.Contains(sql, []byte("/*")) || bytes.Contains(sql, []byte("--")) || bytes.IndexByte(sql, '#') >= 0 {
		return false // a comment may stand between a function's name and its arguments
	}
	for at, calls := 0, 0; ; at++ {
		i := bytes.IndexByte(sql[at:], '(')
		if i < 0 {
			return true
		}
		at += i
		if !isPlainCall(sql[:at], table, calls == 0) {
			return false
		}
		calls++
	}
}

// isPlainCall checks the name before a parenthesis, which begins the list of columns if it
// is the first one. A name that is quoted or qualified is that of a stored function.
func isPlainCall(before []byte, table string, first bool) bool {
	const space = " \t\r\n\v\f"
	before = bytes.TrimRight(before, space)
	name := bytes.TrimRight(before, "`\"")
	quoted := len(name) < len(before)
	begin := len(name)
	for begin > 0 && isWordByte(name[begin-1]) {
		begin--
	}
	word := string(name[begin:])
	ahead := bytes.TrimRight(bytes.TrimRight(name[:begin], "`\""), space)
	switch {
	case word == "" && !quoted:
		return true
	case first && strings.EqualFold(word, table):
		return len(ahead) > 0 && (isWordByte(ahead[len(ahead)-1]) || ahead[len(ahead)-1] == '.') // not within SET
	}
	return !quoted && !bytes.HasSuffix(ahead, []byte(".")) && plainCalls[strings.ToLower(word)]
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// repeatTaken handles the answer to a filled statement: where it says that one of the
// ids is in the table already, the statement is sent again once, and its new answer is
// given.
func (x *insertRunner) repeatTaken(p *plan.Fill, t catalog.TableName, ok wire.OK, err error) (wire.OK, error) {
	if err != nil && !x.skipTaken(p, t, err) || err == nil && !x.mayBeTaken(p, t, ok) {
		return ok, err
	}
	if err == nil || !x.repeatsSent(p) || x.hasTriggers(t) {
		return ok, err
	}
	if again := x.sendAgain(p); again != nil {
		return ok, again
	}
	if ok, err = x.answerOK(); err != nil {
		x.skipTaken(p, t, err)
	}
	return ok, err
}

// skipTaken skips ids that are in the table, if a server's error says that one of the
// statement's is. It reports whether that was so.
func (f *insertWriter) skipTaken(p *plan.Fill, t catalog.TableName, err error) bool {
	var refused *wire.ServerError
	if !p.LearnsTaken() || !errors.As(err, &refused) || refused.Code() != mysql.ER_DUP_ENTRY && refused.Code() != mysql.ER_DUP_ENTRY_WITH_KEY_NAME {
		return false
	}
	for _, n := range numbersIn([]byte(refused.Text())) {
		if n >= uint64(p.First) && n <= uint64(p.ID(int(p.Open)-1)) {
			return f.skipStored(p, t, p.First)
		}
	}
	return false
}

// mayBeTaken looks after a statement that succeeded, but left rows out or changed others,
// where no error tells whether that was because of its ids. It skips only.
func (f *insertWriter) mayBeTaken(p *plan.Fill, t catalog.TableName, ok wire.OK) bool {
	if !p.LearnsTaken() || !p.LeftOut(ok) {
		return false
	}
	if p.Upsert && p.Rows == 1 && p.Wrap {
		if ok.InsertID == uint64(p.First) {
			f.skipStored(p, t, p.First)
		}
		return false
	}
	if f.srv.looked.due(p.Binding.Sequence.String()+" "+p.Binding.Table, time.Now()) {
		f.look(p, t, 0)
	}
	return false
}

// skipStored has the sequence skip the ids in memory up to the largest of those from one
// on that is in the table. It reports false when there is none, or it could not be asked
// in time.
func (f *insertWriter) skipStored(p *plan.Fill, t catalog.TableName, from int64) bool {
	timer := time.NewTimer(lookLimit)
	defer timer.Stop()
	select {
	case found := <-f.look(p, t, from):
		return found
	case <-timer.C:
		return false
	}
}

// look is skipStored for who does not wait. from is 0 for the ids in memory alone.
func (f *insertWriter) look(p *plan.Fill, t catalog.TableName, from int64) <-chan bool {
	found := make(chan bool, 1)
	b, last := p.Binding, p.ID(int(p.Open)-1)
	if from == 0 {
		last = 0
	}
	ctx, k, srv, log := f.ctx, f.keyspace, f.srv, f.log // the session may be elsewhere by then
	go func() {
		skipped, err := srv.skipStored(ctx, k, t, b, from, last)
		if err != nil && !errors.Is(err, context.Canceled) {
			log.Warn("a table was not asked for the ids that it has; the sequence may give some of them", "table", b.Table, "err", err)
		}
		found <- skipped
	}()
	return found
}

// hasTriggers reports whether an INSERT into the table runs others, whose effects may
// stay where the statement is undone.
func (f *insertWriter) hasTriggers(t catalog.TableName) bool {
	ctx, cancel := context.WithTimeout(f.ctx, lookLimit)
	defer cancel()
	var n int
	if !seesTriggers(ctx, f.keyspace.DB, t.Schema) {
		return true
	}
	err := f.keyspace.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ? AND EVENT_MANIPULATION = 'INSERT'",
		t.Schema, t.Table).Scan(&n)
	return err != nil || n > 0
}

// seesTriggers reports whether seqgate's account is shown triggers, which takes the right TRIGGER to all of a database.
func seesTriggers(ctx context.Context, db *sql.DB, schema string) bool {
	rows, err := db.QueryContext(ctx, "SHOW GRANTS")
	if err != nil {
		return false
	}
	defer rows.Close()
	sees := false
	for rows.Next() {
		var grant string
		if err := rows.Scan(&grant); err != nil {
			return false
		}
		rights, on, _ := strings.Cut(grant, " ON ")
		all := strings.HasPrefix(on, "*.*") || strings.HasPrefix(on, catalog.Quote(schema)+".*")
		sees = sees || all && (strings.Contains(rights, "TRIGGER") || strings.Contains(rights, "ALL PRIVILEGES"))
	}
	return sees && rows.Err() == nil
}

// sendAgain sends the statement in s.scratch with other ids.
func (f *insertWriter) sendAgain(p *plan.Fill) error {
	old := *p
	if err := f.takeBlock(p); err != nil {
		return err
	}
	f.noteIDs(p.Open)
	if p.Sent == plan.SentExecute {
		return f.executeAgain(p)
	}
	body := bytes.Clone(f.scratch)
	f.scratch = f.scratch[:0]
	at := 0
	for n, begin := range f.idsAt {
		f.scratch = p.AppendOpen(append(f.scratch, body[at:begin]...), n)
		at = begin + len(old.AppendOpen(nil, n))
	}
	f.scratch = append(f.scratch, body[at:]...)
	return f.SendPacket(f.scratch)
}

// executeAgain sends the COM_STMT_EXECUTE in s.scratch with other ids, which are
// parameters of 8 bytes.
func (f *insertWriter) executeAgain(p *plan.Fill) error {
	const header = 10
	r := wire.ParamReader{Data: f.scratch[wire.HeaderSize:], At: header}
	count := uint64(p.SentParams)
	if f.Has(mysql.CLIENT_QUERY_ATTRIBUTES) {
		count = r.Number()
	}
	params := r.ReadParams(count, f.Has(mysql.CLIENT_QUERY_ATTRIBUTES), nil, nil)
	if r.Bad {
		return malformedExecute()
	}
	for n, i := range f.idsAt {
		if i >= len(params) || len(params[i].Value) != 8 {
			return malformedExecute()
		}
		binary.LittleEndian.PutUint64(params[i].Value, uint64(p.ID(n)))
	}
	return f.SendPacket(f.scratch)
}
