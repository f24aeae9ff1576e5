package main

import (
	"context"
	"fmt"
	"io"

	"github.com/seqgate/seqgate/internal/clidoc"
)

// runMan is `seqgate man`.
func runMan(ctx context.Context, args []string, stdout, _ io.Writer) error {
	const about = "Prints the manual page, made from the help of all commands. To read it: seqgate man | man -l -"
	if err := parseOnly(newFlags("man", "", about, stdout), args); err != nil {
		return err
	}
	p, err := collectHelp(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(stdout, p.Man(manSections...))
	return err
}

// manSections is what the help of no command says.
var manSections = []clidoc.Section{
	{Heading: "Exit status", Items: []clidoc.Item{
		{Term: "0", Text: "Success, and help that was asked for."},
		{Term: "1", Text: "Something failed, or a check found something."},
		{Term: "2", Text: "A wrong call, or wrong files."},
	}},
	{Heading: "Environment", Items: []clidoc.Item{
		{Term: "SEQGATE_CONFIG", Text: "The configuration file, where neither --config nor --upstream is given."},
		{Term: "SEQGATE_*", Text: "A key of the configuration by its path in capitals, such as SEQGATE_LOG_LEVEL. It wins over the file."},
	}},
	{Heading: "Signals", Items: []clidoc.Item{
		{Term: "SIGTERM, SIGINT", Text: "Stop: no new clients, statements in flight end, unused ids go back."},
		{Term: "SIGHUP", Text: "Read again what the configuration says is reloadable."},
	}},
	{Heading: "Files", Items: []clidoc.Item{
		{Term: "/etc/seqgate/seqgate.yaml", Text: "The configuration of the packaged service. Every key is explained in it."},
	}},
}
