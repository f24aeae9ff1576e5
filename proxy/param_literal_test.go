package proxy_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// bound is a parameter as a client sends it.
type bound struct {
	name  string
	typ   byte
	flags byte
	null  bool
	value []byte
}

const unsigned = 0x80

// execute executes a prepared statement and gives the beginning of its answer.
func (c *bulkClient) execute(stmt []byte, params ...bound) []byte {
	c.Helper()
	c.send(executeCommand(stmt, 0, params...)...)
	return c.receive()
}

func executeCommand(stmt []byte, flags byte, params ...bound) []byte {
	b := append(append([]byte{protocol.COM_STMT_EXECUTE}, stmt...), flags, 1, 0, 0, 0)
	if len(params) == 0 {
		return b
	}
	nulls := len(b)
	b = append(append(b, make([]byte, (len(params)+7)/8)...), 1)
	for i, p := range params {
		if p.null {
			b[nulls+i/8] |= 1 << (i % 8)
		}
		b = append(b, p.typ, p.flags)
	}
	for _, p := range params {
		if !p.null {
			b = append(b, p.value...)
		}
	}
	return b
}

func boundInt(n int64) bound {
	return bound{typ: protocol.MYSQL_TYPE_LONGLONG, value: binary.LittleEndian.AppendUint64(nil, uint64(n))}
}

func boundText(typ byte, text string) bound {
	value := protocol.AppendLengthEncodedInteger(nil, uint64(len(text)))
	return bound{name: strconv.QuoteToASCII(text), typ: typ, value: append(value, text...)}
}

// literalColumns are the types into which values are stored.
var literalColumns = []string{
	"TINYINT", "BIGINT", "BIGINT UNSIGNED", "DECIMAL(30,10)", "DOUBLE", "FLOAT", "VARCHAR(300)", "VARCHAR(300) CHARACTER SET latin1", "VARBINARY(300)",
	"TEXT", "BLOB", "DATE", "DATETIME(6)", "TIME(6)", "YEAR", "ENUM('a','1','x''y')", "BIT(16)", "JSON",
}

// randomBound gives a value of any type that a client may bind.
func randomBound(r *rand.Rand) bound {
	texts := []string{"", "a", "1", "-1.5e3", "it's \\ \"quoted\" \\' ''", "2024-02-29 23:59:59.999999", "12:34:56", "0", " 7 ", "h\u00e9\U0001f600", "\x00\n\r\x1a%_", `{"k": "v"}`, "12abc", "2024-02-29"}
	text := texts[r.IntN(len(texts))]
	switch r.IntN(12) {
	case 0:
		return bound{name: "NULL", typ: protocol.MYSQL_TYPE_LONG, null: true}
	case 1:
		n := int8(r.Uint32())
		return bound{name: fmt.Sprint(n), typ: protocol.MYSQL_TYPE_TINY, value: []byte{byte(n)}}
	case 2:
		n := uint16(r.Uint32())
		return bound{name: fmt.Sprint(n), typ: protocol.MYSQL_TYPE_SHORT, flags: unsigned, value: binary.LittleEndian.AppendUint16(nil, n)}
	case 3:
		n := int32(r.Uint32())
		return bound{name: fmt.Sprint(n), typ: protocol.MYSQL_TYPE_LONG, value: binary.LittleEndian.AppendUint32(nil, uint32(n))}
	case 4:
		values := []int64{r.Int64(), -r.Int64(), math.MinInt64, math.MaxInt64, 0, 20240229, -1}
		n := values[r.IntN(len(values))]
		p := boundInt(n)
		if p.name = fmt.Sprint(n); r.IntN(2) == 0 {
			p.name, p.flags = fmt.Sprint(uint64(n)), unsigned
		}
		return p
	case 5:
		values := []float32{r.Float32(), -1.5, 0, math.MaxFloat32, 1e-30, 16777216, 0.1}
		f := values[r.IntN(len(values))]
		return bound{name: fmt.Sprint(f), typ: protocol.MYSQL_TYPE_FLOAT, value: binary.LittleEndian.AppendUint32(nil, math.Float32bits(f))}
	case 6:
		values := []float64{r.NormFloat64(), r.Float64() * 1e15, 0.1, math.Copysign(0, -1), 1e300, 5e-324, math.MaxFloat64, 2.5, 1e15, 123456789012345678, 3, -7.25}
		f := values[r.IntN(len(values))]
		return bound{name: fmt.Sprint(f), typ: protocol.MYSQL_TYPE_DOUBLE, value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}
	case 7:
		values := []string{"0", "-1.50", "12345678901234567890.0123456789", "007", "+3.", ".5", "99999999999999999999"}
		return boundText(protocol.MYSQL_TYPE_NEWDECIMAL, values[r.IntN(len(values))])
	case 8:
		types := []byte{protocol.MYSQL_TYPE_VARCHAR, protocol.MYSQL_TYPE_VAR_STRING, protocol.MYSQL_TYPE_STRING}
		return boundText(types[r.IntN(len(types))], text)
	case 9:
		types := []byte{protocol.MYSQL_TYPE_TINY_BLOB, protocol.MYSQL_TYPE_BLOB, protocol.MYSQL_TYPE_MEDIUM_BLOB, protocol.MYSQL_TYPE_LONG_BLOB}
		if r.IntN(2) == 0 {
			text = "\xff\xfe\x00'\\\x80"
		}
		return boundText(types[r.IntN(len(types))], text)
	case 10:
		return randomTime(r)
	}
	return randomDate(r)
}

func randomDate(r *rand.Rand) bound {
	types := []byte{protocol.MYSQL_TYPE_DATE, protocol.MYSQL_TYPE_DATETIME, protocol.MYSQL_TYPE_TIMESTAMP}
	p := bound{typ: types[r.IntN(len(types))]}
	value := binary.LittleEndian.AppendUint16(nil, uint16(1971+r.IntN(66))) // what a TIMESTAMP has
	value = append(value, byte(1+r.IntN(12)), byte(1+r.IntN(28)))
	if p.typ != protocol.MYSQL_TYPE_DATE && r.IntN(4) > 0 {
		value = append(value, byte(r.IntN(24)), byte(r.IntN(60)), byte(r.IntN(60)))
		if r.IntN(2) == 0 {
			value = binary.LittleEndian.AppendUint32(value, uint32(r.IntN(1_000_000)))
		}
	}
	p.value = append([]byte{byte(len(value))}, value...)
	p.name = fmt.Sprintf("time %x", value)
	return p
}

func randomTime(r *rand.Rand) bound {
	value := binary.LittleEndian.AppendUint32([]byte{byte(r.IntN(2))}, uint32(r.IntN(34)))
	value = append(value, byte(r.IntN(22)), byte(r.IntN(60)), byte(r.IntN(60)))
	switch r.IntN(3) {
	case 0:
		value = nil
	case 1:
		value = binary.LittleEndian.AppendUint32(value, uint32(r.IntN(1_000_000)))
	}
	return bound{name: fmt.Sprintf("time %x", value), typ: protocol.MYSQL_TYPE_TIME, value: append([]byte{byte(len(value))}, value...)}
}

// differs reports whether servers themselves store the parameter in another way than
// the literal of the same type and value: of a time in a text they leave out the
// fraction, bytes as a number they trim, and they treat as a number what goes into a BIT.
// MySQL refuses a text that the column's character set does not have before it is stored.
func (p *bound) differs(column string) bool {
	text := p.typ == protocol.MYSQL_TYPE_VARCHAR || p.typ >= protocol.MYSQL_TYPE_TINY_BLOB && p.typ <= protocol.MYSQL_TYPE_STRING
	bytes := p.typ >= protocol.MYSQL_TYPE_TINY_BLOB && p.typ <= protocol.MYSQL_TYPE_BLOB
	switch p.typ {
	case protocol.MYSQL_TYPE_DATETIME, protocol.MYSQL_TYPE_TIMESTAMP, protocol.MYSQL_TYPE_TIME:
		fraction := len(p.value) == 12 || len(p.value) == 13
		return fraction && (strings.Contains(column, "CHAR") || strings.Contains(column, "BINARY") || column == "TEXT" || column == "BLOB")
	}
	return p.name == `" 7 "` && (bytes || column == "YEAR") || text && strings.HasPrefix(column, "BIT") ||
		text && strings.Contains(column, "latin1") && strings.Contains(p.name, `\U0001f600`) ||
		p.flags == unsigned && strings.HasPrefix(column, "TIME") && p.typ == protocol.MYSQL_TYPE_LONGLONG
}

// A value that a prepared INSERT into a sharded table binds is stored as the server
// itself stores it: in columns of all types, with and without strict mode.
func TestBoundLiterals(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		var tables []string
		for i, column := range literalColumns {
			tables = append(tables, fmt.Sprintf("CREATE TABLE routed%d (id BIGINT PRIMARY KEY, v %s) DEFAULT CHARSET utf8mb4", i, column),
				fmt.Sprintf("CREATE TABLE native%d LIKE routed%d", i, i))
		}
		vschema := `{"keyspaces": {"main": {}, "customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {"x": {"column_vindexes": [{"column": "id", "name": "hash"}]}`
		for i := range literalColumns {
			vschema += fmt.Sprintf(`, "routed%d": {"column_vindexes": [{"column": "id", "name": "hash"}]}`, i)
		}
		g := newShardedGate(t, s, 2, gateOptions{vschema: vschema + "}}}}"}, tables...)
		native, routed := dialBulk(t, g.addr, "customer:-80", 0), dialBulk(t, g.addr, "customer", 0)
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		for _, mode := range []string{"", "STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES"} {
			for _, c := range []*bulkClient{native, routed} {
				c.query("SET NAMES utf8mb4")
				c.query("SET sql_mode = '" + mode + "'")
			}
			insert := func(c *bulkClient, table string, i int, p bound) uint16 {
				// Anew each time: MySQL keeps to the types of a statement's first execution.
				stmt := c.prepare(fmt.Sprintf("INSERT INTO %s%d (id, v) VALUES (?, ?)", table, i))
				_, _, errno := okFields(c.execute(stmt, boundInt(1), p))
				c.send(append([]byte{protocol.COM_STMT_CLOSE}, stmt...)...)
				return errno
			}
			for range 60 {
				p := randomBound(r)
				for i, column := range literalColumns {
					if p.differs(column) {
						continue
					}
					want, got := insert(native, "native", i, p), insert(routed, "routed", i, p)
					if got != want {
						t.Errorf("%s seed %d, mode %q: %s (type %d) into %s: error %d, natively %d", t.Name(), seed, mode, p.name, p.typ, column, got, want)
					}
					check := fmt.Sprintf("SELECT COUNT(*) FROM native%d n LEFT JOIN routed%d r ON n.v <=> r.v AND HEX(n.v) <=> HEX(r.v)", i, i)
					if want == 0 && got == 0 && value[int](t, g.shards[0], check+" WHERE r.id IS NULL") > 0 {
						t.Errorf("%s seed %d, mode %q: %s (type %d) into %s: %s, natively %s", t.Name(), seed, mode, p.name, p.typ, column,
							value[string](t, g.shards[0], fmt.Sprintf("SELECT COALESCE(HEX(v), 'NULL') FROM routed%d", i)),
							value[string](t, g.shards[0], fmt.Sprintf("SELECT COALESCE(HEX(v), 'NULL') FROM native%d", i)))
					}
					exec(t, g.shards[0], fmt.Sprintf("DELETE FROM native%d", i), fmt.Sprintf("DELETE FROM routed%d", i))
				}
			}
		}
	})
}
