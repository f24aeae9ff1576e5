//go:build !slim

package demoengine

import (
	"fmt"
	"io"
	"log/slog"
	"sync"

	vtlog "github.com/dolthub/vitess/go/vt/log"
	"github.com/sirupsen/logrus"
)

var redirectOnce sync.Once

// redirectLogs sends what the engine's two process-wide logs say to logger, at debug level: a failed
// statement is a warning to them, and its client has the error.
func redirectLogs(logger *slog.Logger) {
	redirectOnce.Do(func() {
		logrus.SetOutput(io.Discard)
		logrus.AddHook(logHook{logger})
		say := func(args ...any) { logger.Debug("demo engine: " + fmt.Sprint(args...)) }
		sayf := func(format string, args ...any) { logger.Debug("demo engine: " + fmt.Sprintf(format, args...)) }
		vtlog.Info, vtlog.Warning, vtlog.Error = say, say, say
		vtlog.Infof, vtlog.Warningf, vtlog.Errorf = sayf, sayf, sayf
	})
}

type logHook struct{ logger *slog.Logger }

// Levels implements logrus.Hook.
func (h logHook) Levels() []logrus.Level { return logrus.AllLevels }

// Fire implements logrus.Hook.
func (h logHook) Fire(e *logrus.Entry) error {
	h.logger.Debug("demo engine: " + e.Message)
	return nil
}
