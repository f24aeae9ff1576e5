package soak

import (
	"database/sql"
	"testing"
	"time"
)

const (
	mostStall = 500 * time.Millisecond // in the calm
	mostCalms = 10                     // that are begun
)

// AwaitCalm returns a span of some length at least, by the clock since, in which neither the machine nor a server stood still:
// calls that time out in a stall are no fault of seqgate's. The last of mostCalms counts whatever is in it.
func AwaitCalm(tb testing.TB, since func() time.Duration, lasts time.Duration, servers ...*sql.DB) Span {
	tb.Helper()
	begin := since()
	for end, calms := begin, 1; ; {
		before := end
		time.Sleep(20 * time.Millisecond)
		for _, server := range servers {
			if _, err := server.ExecContext(tb.Context(), "DO 1"); err != nil {
				tb.Fatal(err)
			}
		}
		end = since()
		if stall := end - before; stall > mostStall && calms < mostCalms {
			tb.Logf("a stall of %v; the calm begins again", stall)
			begin, calms = end, calms+1
		}
		if end-begin >= lasts {
			return Span{Begin: begin, End: end}
		}
	}
}
