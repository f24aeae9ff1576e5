package app

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"
)

// reloadInterval is how often the files are looked at. They are small: all of
// them is read, since a time of change may hide a second change.
const reloadInterval = 2 * time.Second

// reloader takes over files that have changed. asked: also those that have not.
type reloader interface{ reload(asked bool) }

// watchFiles calls the reloaders now and then, and at each signal, until stop is called.
func watchFiles(ctx context.Context, signals <-chan os.Signal, log *slog.Logger, all ...reloader) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(reloadInterval)
		defer ticker.Stop()
		for {
			asked := false
			select {
			case <-ctx.Done():
				return
			case <-signals:
				log.Info("asked to reload")
				asked = true
			case <-ticker.C:
			}
			for _, r := range all {
				r.reload(asked)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
