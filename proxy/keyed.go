package proxy

import (
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// openKeys returns the keys of those rows whose ids are open. params are those of
// an execution; nil for a text.
func (f *idTaker) openKeys(b *catalog.Binding, keys []parser.Key, open func(row int) bool, params []wire.Param) ([][]byte, error) {
	if !b.Mode(f.State.Mode).Strict {
		return nil, catalog.Unsupported("a keyed sequence without strict sql_mode, in which the key may be stored as another one,", b.Table,
			"SET sql_mode with STRICT_TRANS_TABLES")
	}
	var all [][]byte
	for row, k := range keys {
		if !open(row) {
			continue
		}
		if k.State == parser.Param && k.Param < len(params) {
			k = f.keyOf(&params[k.Param])
		}
		key, ok := b.Key.Bytes(k)
		if !ok {
			return nil, catalog.Unsupported("a row whose key '"+b.Key.Name+"' is not given as a whole number, a text or a parameter of these types", b.Table,
				"write the key's value as such a literal")
		}
		all = append(all, key)
	}
	return all, nil
}

// keyOf reads a parameter as a key.
func (f *idTaker) keyOf(p *wire.Param) parser.Key {
	unknown := parser.Key{State: parser.Unknown}
	if p.Null || p.Long || byte(p.Type) == mysql.MYSQL_TYPE_NULL {
		return unknown
	}
	if n, ok := p.Integer(); ok {
		text := strconv.FormatInt(n, 10)
		if p.Type&wire.UnsignedParam != 0 {
			text = strconv.FormatUint(uint64(n), 10)
		}
		return parser.Key{State: parser.Explicit, Text: text, Raw: text}
	}
	switch byte(p.Type) {
	case mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_VARCHAR,
		mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB:
		_, _, size := wire.LengthEncoded(p.Value)
		raw := p.Value[size:]
		if text, ok := f.State.Mode.Charset.Decode(raw); ok {
			return parser.Key{State: parser.Explicit, Text: text, Raw: string(raw)}
		}
	}
	return unknown
}

// nextEach takes the next value of each key.
func (f *idTaker) nextEach(b *catalog.Binding, keys [][]byte) ([]int64, error) {
	seq, err := f.keyed(b.Sequence)
	if err != nil {
		return nil, err
	}
	ids, err := seq.NextEach(f.spanContext(), keys)
	if err != nil {
		return nil, err
	}
	if last := slices.Max(ids); last > b.Max {
		return nil, columnFull(b, last)
	}
	return ids, nil
}

// nextOfKey answers a SELECT NEXT VALUE ... FOR KEY.
func (x *valueRunner) nextOfKey(n plan.NextValues) (sequence.Range, error) {
	if g := x.srv.generator(n.Name); g != nil {
		return sequence.Range{}, refuseGenerator(g, "a value of a key", "leave FOR KEY out")
	}
	seq, err := x.keyed(n.Name)
	switch {
	case err != nil:
		return sequence.Range{}, err
	case x.peer:
		got, err := seq.Local(x.ctx, []keyed.Want{{Key: []byte(n.Key), N: n.Count}})
		if err != nil {
			return sequence.Range{}, err
		}
		return got[0], nil
	}
	return seq.Next(x.spanContext(), []byte(n.Key), n.Count)
}

func (f *idTaker) keyed(name sequence.Name) (*keyed.Sequence, error) {
	if f.srv.cfg.Keyed == nil {
		return nil, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "this seqgate serves no keyed sequences")
	}
	return f.srv.cfg.Keyed(name)
}
