package proxy

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence/snowflake"
)

// SELECT SEQGATE_DECODE(id) takes an id apart, by a text or as a prepared statement.

var errDecodeForm = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate answers SEQGATE_DECODE(id) of one literal, or one parameter of a prepared statement, that is alone in a SELECT, and nothing beside it")

// decodeColumns are those of its result. The numbers are the last ones.
func decodeColumns() []wire.Column {
	return []wire.Column{wire.TextColumn("Layout", 64), wire.TextColumn("Generator", 129), wire.TextColumn("Time", 32), wire.TextColumn("Zone", 20),
		wire.IntegerColumn("Worker"), wire.IntegerColumn("Sequence")}
}

// selectDecode answers the text.
func (d *commandStatement) selectDecode() error {
	rows, err := d.srv.decode(d.ID)
	if err != nil {
		return err
	}
	return d.replyRows(decodeColumns(), rows)
}

// planPrepareDecode judges the statement to prepare.
func (x *valueRunner) planPrepareDecode(sql []byte) (*statement, error) {
	mode, err := x.readable(sql)
	if err != nil {
		return nil, err
	}
	stmt, err := parser.ParseCommand(sql, mode)
	if err != nil {
		return nil, errDecodeForm
	}
	return &statement{next: &nextPlan{decode: true, key: stmt.ID, keyParam: stmt.IDParam}}, nil
}

// answerDecode answers an execution, in the binary protocol.
func (x *valueRunner) answerDecode(id string) error {
	rows, err := x.srv.decode(id)
	if err != nil {
		return err
	}
	var packets [][]byte
	for _, row := range rows {
		packet, err := appendBinaryRow(nil, decodeColumns(), row)
		if err != nil {
			return err
		}
		packets = append(packets, packet)
	}
	return x.replyPackets(x.preparedColumns(&nextPlan{decode: true}), packets)
}

// appendBinaryRow appends a row without NULLs as the binary protocol has it ("Binary Protocol Resultset Row" of the MySQL
// manual), where the values of columns that are no text are BIGINTs.
func appendBinaryRow(dst []byte, columns []wire.Column, row []string) ([]byte, error) {
	const offset = 2 // of the bits that tell of NULLs
	dst = append(dst, mysql.OK_HEADER)
	dst = append(dst, make([]byte, (len(columns)+offset+7)/8)...)
	for i, column := range columns {
		if column.Type == mysql.MYSQL_TYPE_VAR_STRING {
			dst = wire.AppendText(dst, row[i])
			continue
		}
		n, err := strconv.ParseInt(row[i], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", column.Name, err)
		}
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return dst, nil
}

// decode takes an id apart: a row for each generator of the vschema and each preset of which it may be, by the time that it
// has there.
func (srv *Server) decode(text string) (rows [][]string, err error) {
	id, ok := generate.ParseID(text)
	if !ok {
		return nil, mysql.NewError(mysql.ER_WRONG_ARGUMENTS, fmt.Sprintf("SEQGATE_DECODE: '%s' is no id: write a number from 1 to 2^63-1, decimal or after 0x", text))
	}
	list, err := generate.Explain(id, srv.generators(), time.Now())
	for _, e := range list {
		zone := ""
		if e.Layout.Bits(snowflake.Zone) > 0 {
			zone = strconv.FormatInt(e.Zone, 10)
		}
		rows = append(rows, []string{e.Layout.Name, e.Generator, stamp(e.Time), zone, strconv.FormatInt(e.Worker, 10), strconv.FormatInt(e.Sequence, 10)})
	}
	return rows, err
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
