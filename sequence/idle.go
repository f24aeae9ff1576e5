package sequence

import (
	"context"
	"fmt"
	"time"
)

// idleLimit is after how long without a statement a server ends a session that has begun a transaction of a store: longer
// than attemptTimeout, so that it is the session of a process that is lost. One that was cut off without a word, or is frozen,
// would keep the lock on the row for as long as the server waits for its next statement, 8 hours by default.
const idleLimit = 4 * time.Second

// limitSQL sets the limit. MariaDB has one for transactions, MySQL only that for sessions, so that a connection to MySQL
// that is not used again in that time is made anew. Each server takes the other's comment as one. The first assignment is
// there already.
var limitSQL = fmt.Sprintf("SET innodb_lock_wait_timeout = %d /*!50700 , wait_timeout = %d */ /*M!100300 , idle_transaction_timeout = %[2]d */",
	int(lockWait.Seconds()), int(idleLimit.Seconds()))

// limitIdle has the server end the session soon when this process says no more, once for each connection. Connections on
// which there are no transactions, as those for leases, stay as they are.
func (t table) limitIdle(ctx context.Context) error {
	return t.conn.Raw(func(conn any) error {
		c, ok := conn.(*identified)
		if !ok || c.limited {
			return nil
		}
		if _, err := c.ExecContext(ctx, limitSQL, nil); err != nil && IsTemporary(err) {
			return t.failure("limit idle transactions", err)
		}
		c.limited = true // a server that knows no such variable serves without the limit
		return nil
	})
}
