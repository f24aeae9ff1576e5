package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("SEQGATE_LOG_FORMAT", "text"); err != nil { // what tests look for in logs is written so
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	servertest.Main(m)
}
