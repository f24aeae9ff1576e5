package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/config"
)

// Durations are as readable in JSON as in the text.
func TestDurationsInJSON(t *testing.T) {
	var out bytes.Buffer
	newLogger(config.Log{Format: "json"}, &slog.LevelVar{}, &out).Info("x", "duration", 1500*time.Millisecond)
	if !strings.Contains(out.String(), `"duration":"1.5s"`) {
		t.Errorf("got %s", out.String())
	}
}
