package main

import "github.com/spf13/cobra"

const seqAbout = `Looks at sequences, and operates them by hand.

All take --config FILE or --upstream DSN. NAME is a sequence table, or
keyspace.table. A server that gives no answer for 10 s is given up, while a
long search for MAX(column) is waited for.`

func newSeq() *cobra.Command {
	cmd := &cobra.Command{Use: "seq", Short: "Look at sequences, and operate them by hand", Long: seqAbout}
	cmd.AddCommand(newSeqList(), newSeqNext(), newSeqSet(), newSeqReset(), newSeqStripes(), newSeqMove(), newSeqImport())
	return cmd
}
