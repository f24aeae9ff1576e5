package proxy

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// SELECT SEQGATE_DECODE(id) takes an id apart, by a text or as a prepared statement.

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

// planPrepareDecode plans the statement to prepare.
func (x *valueRunner) planPrepareDecode(sql []byte) (*statement, error) {
	var next plan.NextValues
	err := x.planned(func() (err error) {
		next, err = x.planner.Decode(sql)
		return err
	})
	return &statement{next: &next}, err
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
	return x.replyPackets(x.preparedColumns(&plan.NextValues{Decode: true}), packets)
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

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
