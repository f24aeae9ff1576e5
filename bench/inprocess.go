package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/seqgate/seqgate/bench/internal/results"
)

// measureIDs runs the benchmark of ids in process, which is a program of its own, and keeps its table.
func measureIDs(ctx context.Context, b *bed, p *results.Part) error {
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/seqgate/seqgate/bench/ids",
		"-rounds", fmt.Sprint(b.cfg.rounds), "-slice", (b.cfg.slice / 2).String())
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("bench/ids: %w\n%s", err, exit.Stderr)
	}
	if err != nil {
		return err
	}
	_, table, ok := strings.Cut(string(out), "\n\n") // after its list of the machine and the settings
	if !ok {
		return fmt.Errorf("bench/ids printed no table: %s", out)
	}
	p.Text = table
	return nil
}
