package soak

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// Judge returns how a call ended whose error of the driver is err, nil too. explained are the numbers of the MySQL errors that
// the faults explain.
func Judge(err error, explained []uint16) Outcome {
	var answer *mysql.MySQLError
	var network net.Error
	switch {
	case err == nil:
		return Done
	case errors.As(err, &answer) && slices.Contains(explained, answer.Number):
		return Refused
	case errors.As(err, &answer):
		return Unexpected
	case errors.Is(err, context.DeadlineExceeded):
		return Hung
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return Lost
	case errors.Is(err, mysql.ErrBusyBuffer): // an error 1053 came right behind the answer before
		return Lost
	}
	return Unexpected
}
