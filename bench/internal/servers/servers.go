// Package servers finds the servers that a benchmark measures on.
package servers

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Start returns the DSNs of the servers to measure on: which, if that is a DSN; else those of the tests, all or the one
// of that name, which run until stop. What this machine lacks is told to log.
func Start(which string, log io.Writer) (dsns []string, stop func() error, err error) {
	if strings.Contains(which, "/") {
		return []string{which}, func() error { return nil }, nil
	}
	started, missing, err := servertest.StartShared()
	if err != nil {
		return nil, nil, err
	}
	for _, reason := range missing {
		fmt.Fprintln(log, "not measured:", reason)
	}
	for pair := range strings.SplitSeq(started, ",") {
		name, dsn, _ := strings.Cut(pair, "=")
		if dsn != "" && (which == "" || which == name) {
			dsns = append(dsns, dsn)
		}
	}
	if len(dsns) == 0 {
		return nil, nil, errors.Join(errors.New("no server to measure on"), servertest.StopShared())
	}
	return dsns, servertest.StopShared, nil
}
