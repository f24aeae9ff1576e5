package keyed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/sequence"
)

// layout is how a table is divided. It decides which row counts a key, so that all processes must agree on it.
type layout struct {
	sections int
	inRows   bool // each row says so too; those of tables that older versions made do not
}

// ErrRemade: the table was made anew with another number of sections since this process read it. The [Sequence] has ended;
// one that is opened now counts by the new sections.
var ErrRemade = errors.New("keyed sequence made anew")

// condition finds the rows that count what this process thinks that they count: those of a table that was made anew count
// other keys.
func (l *layout) condition() string {
	if !l.inRows {
		return "TRUE"
	}
	return fmt.Sprintf("sections = %d", l.sections)
}

// AddSections has each row of a table that an older version made say how many sections there are. It may run while the
// sequence is in use. The errors are those of [Seed].
func AddSections(ctx context.Context, db *sql.DB, database, table string) error {
	t := tableOf(db, database, table)
	return t.onConn(ctx, "look at the table", func(conn *sql.Conn) error {
		l, err := t.layout(ctx, conn)
		if err != nil {
			return err
		}
		return t.addSections(ctx, conn, l)
	})
}

func (t table) addSections(ctx context.Context, conn *sql.Conn, l layout) error {
	if l.inRows {
		return nil
	}
	_, err := conn.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s ADD COLUMN sections INT NOT NULL DEFAULT %d", t.sqlName(), l.sections))
	return err
}

// layout reads how the table is divided now.
func (t table) layout(ctx context.Context, conn *sql.Conn) (l layout, err error) {
	var text string
	err = conn.QueryRowContext(ctx, "SELECT table_comment, EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = ? AND table_name = ?"+
		" AND column_name = 'sections') FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		t.name.Database, t.name.Table, t.name.Database, t.name.Table).Scan(&text, &l.inRows)
	if errors.Is(err, sql.ErrNoRows) {
		return layout{}, t.noTable(nil)
	}
	if err != nil {
		return layout{}, err
	}
	number, _ := strings.CutPrefix(text, comment)
	l.sections, err = strconv.Atoi(number)
	if err != nil || !strings.HasPrefix(text, comment) || l.sections < 1 || l.sections > MaxSections {
		return layout{}, t.problem(sequence.ErrNotSequence, nil, "is not a keyed sequence: the comment of its table is %q instead of '%s<number of sections>'", text, comment)
	}
	return l, nil
}

// unlessRemade returns err, or that the table is divided in another way than it was.
func (t table) unlessRemade(ctx context.Context, conn *sql.Conn, err error) error {
	if err != nil && sequence.IsTemporary(err) {
		return err
	}
	now, failed := t.layout(ctx, conn)
	switch {
	case failed != nil && err == nil:
		return failed
	case failed == nil && (now.sections != t.made.sections || t.made.inRows && !now.inRows):
		return t.problem(ErrRemade, nil, "was made anew with %d sections, there were %d: try again", now.sections, t.made.sections)
	}
	return err
}
