package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/vschema"
)

// usageError is a wrong call of a command, or wrong files given to it: exit code 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// exitCode is 0 for success and asked-for help, 2 for a wrong call and wrong files, 1 for everything else.
func exitCode(err error) int {
	var usage usageError
	var files vschema.Errors
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage), errors.As(err, &files):
		return 2
	}
	return 1
}

// newFlags starts the flags of a command; about is what its help says first.
func newFlags(command, arguments, about string, stdout io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // the error comes back from parseFlags, once
	fs.Usage = func() {
		if h, ok := stdout.(*helpCollector); ok {
			h.add(arguments, about, fs)
			return
		}
		fmt.Fprintf(stdout, "usage: seqgate %s %s\n\n%s\n\n", command, arguments, about)
		fs.SetOutput(stdout)
		fs.PrintDefaults()
	}
	return fs
}

// parseFlags gives flag.ErrHelp after printing the help that was asked for, and a usageError for wrong flags.
func parseFlags(fs *flag.FlagSet, args []string) error {
	usage := fs.Usage
	fs.Usage = func() {}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		usage()
		return err
	case err != nil:
		return usagef("%w: see seqgate %s --help", err, fs.Name())
	}
	return nil
}

// parseOnly is parseFlags for a command without arguments.
func parseOnly(fs *flag.FlagSet, args []string) error {
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usagef("unexpected argument %q: see seqgate %s --help", fs.Arg(0), fs.Name())
	}
	return nil
}

// source is where a command has its configuration from: a file, or the DSN of one server.
type source struct {
	file, upstream string
	anyDatabase    bool // the DSN need not name one: the command serves all of the server
}

func (s *source) flags(fs *flag.FlagSet) {
	fs.StringVar(&s.file, "config", "", "the configuration `FILE` (or SEQGATE_CONFIG)")
	fs.StringVar(&s.upstream, "upstream", "", "the `DSN` of one unsharded server instead of a file: user:password@tcp(host:port)/database")
}

// load reads the configuration. SEQGATE_CONFIG names the file when no flag does.
func (s *source) load() (*config.Config, error) {
	env := config.Environment{}
	if file := env.Get("SEQGATE_CONFIG"); s.file == "" && s.upstream == "" {
		s.file = file
	}
	cfg, err := s.read(loader(env.Get))
	if err != nil {
		return nil, err
	}
	if err := env.Unknown(os.Environ(), cfg.VSchema); err != nil {
		return nil, err
	}
	return cfg, nil
}

func (s *source) read(l config.Loader) (*config.Config, error) {
	switch {
	case s.file != "" && s.upstream != "":
		return nil, usagef("--config and --upstream together: give one")
	case s.upstream != "" && s.anyDatabase:
		return l.UpstreamServer(s.upstream)
	case s.upstream != "":
		return l.Upstream(s.upstream)
	case s.file != "":
		return l.Load(s.file)
	}
	return nil, usagef("no configuration: give --config FILE or --upstream DSN")
}
