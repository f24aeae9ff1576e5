package ops

import "fmt"

// UsageError is a wrong call of a command, or wrong files given to it: exit code 2.
type UsageError struct{ err error }

func (e UsageError) Error() string { return e.err.Error() }

func (e UsageError) Unwrap() error { return e.err }

func Usagef(format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...)}
}
