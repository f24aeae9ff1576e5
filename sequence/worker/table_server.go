package worker

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// serverRow is the worker id of the row that holds the server.
const serverRow = -1

// serverSQL is what tells one server from another; see package sequence, which does it for its rows.
const serverSQL = "CONCAT_WS(':', @@hostname, @@port, @@server_id /*!50700 , @@server_uuid */)"

// sameServer reports whether the server has served the set before for as long as a lease can last that another server may
// have given and this one not know. It is settled when nothing was written: else the rows are to be read again. It returns
// an error until then.
func (t *Table) sameServer(ctx context.Context, conn *sql.Conn, rows []row, c Claim) (settled bool, err error) {
	if t.anyone {
		return true, nil
	}
	var server string
	if err := conn.QueryRowContext(ctx, "SELECT "+serverSQL).Scan(&server); err != nil {
		return false, err
	}
	if len(rows) == 0 || rows[0].worker != serverRow {
		_, err := t.try(ctx, conn, fmt.Sprintf("INSERT INTO %s "+
			"(set_name, worker_id, holder, address, expires, free_from, after_time, reserved_until, clock_ahead_us)"+
			" VALUES (%s, %d, '', %s, '1970-01-01', '1970-01-01', '1970-01-01', '1970-01-01', 0)",
			sqlName(t.database), text(t.set), serverRow, text(server)))
		return false, err
	}
	last := rows[0]
	if last.address != server {
		wait := c.Lease + c.MaxSkew
		_, err := t.try(ctx, conn, fmt.Sprintf("UPDATE %s SET address = %s, free_from = UTC_TIMESTAMP(6)%s"+
			" WHERE set_name = %s AND worker_id = %d AND address = %s",
			sqlName(t.database), text(server), interval(wait), text(t.set), serverRow, text(last.address)))
		return false, err
	}
	if last.locked > 0 {
		return false, &Error{Kind: sequence.ErrUnavailable, Set: t.set, Text: fmt.Sprintf(
			"another server than before serves their table; leases that it may not know of will have ended in %v: wait; "+
				"if connections lead to the nodes of a cluster that loses no commit, as Galera is, set worker_ids.any_server: true",
			last.locked.Round(time.Millisecond))}
	}
	return true, nil
}
