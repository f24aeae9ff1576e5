package threads

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/seqgate/seqgate/proxy/catalog"
)

// Thread is what a server says of one of its connections.
type Thread struct {
	Host                           string // with the port, but on a Unix socket
	Database, Command, Time, State string // Time is in seconds
}

// queryer is a pool of connections, or one of them.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// List asks a server what its connections with those ids do. It gives those that there are and that the account
// may see. SHOW is asked and not information_schema.PROCESSLIST: on MySQL a query of that fails with error 3854 while any
// connection runs a text that is no UTF-8, say one with a binary literal. Either way the server makes the whole list.
func List(ctx context.Context, db queryer, ids ...uint32) (map[uint32]Thread, error) {
	ctx, cancel := context.WithTimeout(ctx, catalog.Timeout)
	defer cancel()
	rows, err := db.QueryContext(ctx, "SHOW PROCESSLIST")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	wanted := make(map[uint32]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	found := make(map[uint32]Thread, len(ids))
	values, places := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, errors.Join(err, rows.Err())
		}
		id, err := strconv.ParseUint(string(values[0]), 10, 32)
		if err == nil && wanted[uint32(id)] { // of Id, User, Host, db, Command, Time, State, Info and what a server adds
			found[uint32(id)] = Thread{string(values[2]), string(values[3]), string(values[4]), cmp.Or(string(values[5]), "0"), string(values[6])}
		}
	}
	return found, rows.Err()
}
