package sequence

import (
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/adaptive"
)

// temporary lists the errors of a server that another attempt, or another server after a failover, may not give. Any
// other answer of a server ends the waiting at once.
var temporary = []uint16{
	1020,       // ER_CHECKREAD: the row changed since it was read
	1021,       // ER_DISK_FULL
	1040, 1203, // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS
	1047,                               // ER_UNKNOWN_COM_ERROR: Galera's "WSREP has not yet prepared node"
	1053, 1077, 1079, 1080, 1152, 1184, // the server shuts down, or aborts the connection
	1129,                   // ER_HOST_IS_BLOCKED
	1158, 1159, 1160, 1161, // ER_NET_...: reading or writing packets
	1180,       // ER_ERROR_DURING_COMMIT
	1205, 1213, // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK
	1223,             // ER_CANT_UPDATE_WITH_READLOCK
	1290, 1792, 1836, // read-only: ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE
	1317, 1927, // ER_QUERY_INTERRUPTED, MariaDB's ER_CONNECTION_KILLED
	1412,       // ER_TABLE_DEF_CHANGED
	1637,       // ER_TOO_MANY_CONCURRENT_TRXS
	1969, 3024, // statement timeouts of MariaDB and MySQL
	1429, 2002, 2003, 2006, 2013, // what proxies say, some with a client's own numbers
	3100, 3101, // Group Replication: ER_RUN_HOOK_ERROR, ER_TRANSACTION_ROLLBACK_DURING_COMMIT
	4031, // ER_CLIENT_INTERACTION_TIMEOUT
}

// IsTemporary reports whether an attempt that ended with err may be followed by another. Every error of a connection is
// temporary: what became of a statement under way need not be known, since an attempt without a confirmed end gives no
// ids, and the next one begins with the row as it is then.
func IsTemporary(err error) bool {
	var own *Error
	if errors.As(err, &own) {
		return false
	}
	var answer *mysql.MySQLError
	return !errors.As(err, &answer) || slices.Contains(temporary, answer.Number)
}

// ofServer lists those of the temporary errors that any other row on the server would meet with too.
var ofServer = []uint16{
	1047,             // ER_UNKNOWN_COM_ERROR: see temporary
	1053,             // ER_SERVER_SHUTDOWN
	1223,             // ER_CANT_UPDATE_WITH_READLOCK
	1290, 1792, 1836, // read-only: see temporary
}

// servesNobody reports whether an attempt ended with err because of the server, whatever row it was about: it is
// read-only, or cuts connections.
func servesNobody(err error) bool {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return slices.Contains(ofServer, answer.Number)
	}
	var network net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.As(err, &network)
}

// ServerError returns the number and the SQLSTATE of the server's own error in err; false when there is none.
func ServerError(err error) (number uint16, state string, ok bool) {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) {
		return 0, "", false
	}
	return answer.Number, string(answer.SQLState[:]), true
}

// Backoff returns how long to wait after so many failures in a row, from 1: 10 ms doubled each time up to 250 ms, less up
// to half of it at random, so that processes that failed together do not try together. The longest is short because the
// database is to be used as soon as it is back.
func Backoff(failures int) time.Duration {
	d := adaptive.Pause(failures)
	return d - rand.N(d/2)
}
