// Command scale simulates a large fleet: thousands of seqgates that hold ids of thousands of sequences, and the sequence
// servers that they refill from. What a seqgate decides, it decides by the code that package sequence runs; what a refill
// costs a server is taken from docs/internals/benchmarks.md. docs/internals/scale.md has the figures, and what the simulation assumes.
//
//	go run ./bench/scale [-seed 1] [-update | -check]
//
// It prints the tables of docs/internals/scale.md. The same seed gives the same tables.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// defaultSeed is the seed of docs/internals/scale.md.
const defaultSeed = 1

func run(args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("scale", flag.ContinueOnError)
	fs.SetOutput(stderr)
	seed := fs.Uint64("seed", defaultSeed, "`seed` of the random numbers")
	update := fs.Bool("update", false, "write the tables into docs/internals/scale.md")
	check := fs.Bool("check", false, "say whether docs/internals/scale.md has these tables")
	path := fs.String("doc", "docs/internals/scale.md", "`file` that -update and -check are about")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	tables := allTables(*seed)
	if !*update && !*check {
		for _, t := range tables {
			fmt.Fprintf(stdout, "%s\n\n%s\n", t.name, t.table)
		}
		return nil
	}
	doc, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	return compare(*path, string(doc), tables, *update)
}

// compare says whether a document has the tables, or writes them.
func compare(path, doc string, tables []namedTable, update bool) error {
	text := doc
	for _, t := range tables {
		var err error
		if text, err = splice(text, t); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	switch {
	case text == doc:
		return nil
	case update:
		return os.WriteFile(path, []byte(text), 0o644)
	}
	return fmt.Errorf("%s has other figures; go run ./bench/scale -update writes them", path)
}
