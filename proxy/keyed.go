package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// PeerAttribute is the connection attribute by which a seqgate says that it asks
// for a value in another one's name.
const PeerAttribute = "seqgate_peer"

// keyColumn is the column that chooses the counter of a keyed sequence.
type keyColumn struct {
	name    string // empty: the sequence counts the whole table
	integer bool
	length  int // the most characters that a text column holds
}

// newKeyColumn judges a column by its type.
func newKeyColumn(c *columnInfo) (keyColumn, error) {
	key := keyColumn{name: c.name, integer: c.max() > 0}
	if key.integer {
		return key, nil
	}
	kind, rest, _ := strings.Cut(strings.ToLower(c.columnType), "(")
	digits, _, _ := strings.Cut(rest, ")")
	n, err := strconv.Atoi(digits)
	if err != nil || !slices.Contains([]string{"char", "varchar", "binary", "varbinary"}, kind) {
		return key, fmt.Errorf("the key column '%s' is a %s; use an integer, CHAR, VARCHAR, BINARY or VARBINARY column", c.name, c.columnType)
	}
	key.length = n
	return key, nil
}

// bytes gives the key that a value of the column stands for, false when the
// server may store another value. Equal values must give equal keys, whatever
// their spelling; a text that is cut off would not.
func (c keyColumn) bytes(text string) ([]byte, bool) {
	if !c.integer {
		return []byte(text), utf8.RuneCountInString(text) <= c.length
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.AppendInt(nil, n, 10), true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return strconv.AppendUint(nil, n, 10), err == nil
}

// planKeys reads the key of each row of the INSERT in s.insert. It comes before
// the statement's slots are read.
func (s *session) planKeys(sql []byte, b *Binding) ([]parser.Key, error) {
	if b.key.name == "" {
		return nil, nil
	}
	return s.insert.Keys(nil, sql, b.key.name, b.Columns)
}

// openKeys gives the keys of those rows whose ids are open. params are those of
// an execution; nil for a text.
func (s *session) openKeys(b *Binding, keys []parser.Key, open func(row int) bool, params []param) ([][]byte, error) {
	var all [][]byte
	for row, k := range keys {
		if !open(row) {
			continue
		}
		if k.State == parser.Param && k.Param < len(params) {
			k = s.keyOf(&params[k.Param])
		}
		key, ok := b.key.bytes(k.Text)
		if k.State != parser.Explicit || !ok {
			return nil, unsupported("a row whose key '"+b.key.name+"' is not given as a number, a text that fits or a parameter", b.Table,
				"write the key's value as a literal")
		}
		all = append(all, key)
	}
	return all, nil
}

// keyOf reads a parameter as a key.
func (s *session) keyOf(p *param) parser.Key {
	unknown := parser.Key{State: parser.Unknown}
	if p.null || p.long || byte(p.typ) == mysql.MYSQL_TYPE_NULL {
		return unknown
	}
	if n, ok := p.integer(); ok {
		text := strconv.FormatInt(n, 10)
		if p.typ&unsignedParam != 0 {
			text = strconv.FormatUint(uint64(n), 10)
		}
		return parser.Key{State: parser.Explicit, Text: text}
	}
	switch byte(p.typ) {
	case mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_VARCHAR,
		mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB:
		_, _, size := lengthEncoded(p.value)
		if text, ok := s.state.mode.Charset.Decode(p.value[size:]); ok {
			return parser.Key{State: parser.Explicit, Text: text}
		}
	}
	return unknown
}

// nextEach takes the next value of each key.
func (s *session) nextEach(b *Binding, keys [][]byte) ([]int64, error) {
	seq, err := s.keyed(b.Sequence)
	if err != nil {
		return nil, err
	}
	ids, err := seq.NextEach(s.ctx, keys)
	if err != nil {
		return nil, err
	}
	if last := slices.Max(ids); last > b.Max {
		return nil, columnFull(b, last)
	}
	return ids, nil
}

// nextOfKey answers a SELECT NEXT VALUE ... FOR KEY.
func (s *session) nextOfKey(n nextPlan) (sequence.Range, error) {
	seq, err := s.keyed(n.name)
	switch {
	case err != nil:
		return sequence.Range{}, err
	case s.peer:
		got, err := seq.Local(s.ctx, []keyed.Want{{Key: []byte(n.key), N: n.count}})
		if err != nil {
			return sequence.Range{}, err
		}
		return got[0], nil
	}
	return seq.Next(s.ctx, []byte(n.key), n.count)
}

func (s *session) keyed(name sequence.Name) (*keyed.Sequence, error) {
	if s.srv.cfg.Keyed == nil {
		return nil, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "this seqgate serves no keyed sequences")
	}
	return s.srv.cfg.Keyed(name)
}
