package threads

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/sequence"
)

// ErrOtherServer: a connection that was made for a KILL leads to another node of a cluster than the one to be ended, so that
// its id is nobody's there, or a stranger's.
var ErrOtherServer = errors.New("the connection for a KILL leads to another server of the cluster")

// ErrUnsure: outside of clusters, too, a connection for a KILL may lead to another server, behind a load balancer or a name.
// Where ports do not tell, as behind NAT, the thread with the session's id may be anybody's.
var ErrUnsure = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate does not support this KILL: something between it and the server, as NAT or a load balancer, hides which connection there is whose, "+
		"so that another's might be hit; use KILL at the server itself, or KILL CONNECTION here, which cuts the session off")

// Kill ends a connection at its server, or what runs on it, over one of db's, after it has made sure that this leads to the
// same server: else the error is ErrOtherServer or ErrUnsure, and nobody was hit. With query it leaves one alone that runs
// nothing: it would be the next statement that is hit.
func Kill(ctx context.Context, db *sql.DB, t backend.Thread, query bool) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // gives it back; that of a broken one fails
	running, err := List(ctx, conn, t.ID)
	if err != nil {
		return err
	}
	now, ok := running[t.ID]
	if !ok || t.Port != "" && !strings.HasSuffix(now.Host, ":"+t.Port) {
		if several, err := IsCluster(ctx, conn); err != nil || several {
			return errors.Join(err, ErrOtherServer)
		}
		return ErrUnsure
	}
	what := "KILL"
	if query {
		if now.Command == "Sleep" {
			return nil
		}
		what = "KILL QUERY"
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("%s %d", what, t.ID))
	if number, _, _ := sequence.ServerError(err); number == mysql.ER_NO_SUCH_THREAD {
		return nil // it has ended by itself, or with another one of the session
	}
	return err
}

// IsCluster reports whether a server is a node of Galera, or a member of a replication group.
func IsCluster(ctx context.Context, conn *sql.Conn) (bool, error) {
	for _, query := range []string{"SHOW GLOBAL VARIABLES LIKE 'wsrep_on'", "SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'"} {
		var name, value string
		err := conn.QueryRowContext(ctx, query).Scan(&name, &value)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
		if value != "" && !strings.EqualFold(value, "OFF") {
			return true, nil
		}
	}
	return false, nil
}
