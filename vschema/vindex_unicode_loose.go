package vschema

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// unicodeLooseMD5Vindex is the MD5 of a text without its case, accents and trailing spaces, so that texts that
// utf8mb4_unicode_ci takes as equal are in one shard.
type unicodeLooseMD5Vindex struct{}

func (unicodeLooseMD5Vindex) Columns() int { return 1 }
func (unicodeLooseMD5Vindex) Cost() int    { return 1 }

func (unicodeLooseMD5Vindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	return mapLoosely(dst, values[0], appendMD5)
}

// unicodeLooseXXHashVindex is the XXH64 of the same.
type unicodeLooseXXHashVindex struct{}

func (unicodeLooseXXHashVindex) Columns() int { return 1 }
func (unicodeLooseXXHashVindex) Cost() int    { return 1 }

func (unicodeLooseXXHashVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	return mapLoosely(dst, values[0], appendXXHash)
}

// mapLoosely hashes the primary weights of the text, which x/text writes as Vitess's copy of it does: both have the
// collation elements of CLDR 23.
func mapLoosely(dst KeyspaceID, v Value, hash func(dst KeyspaceID, b []byte) KeyspaceID) (KeyspaceID, error) {
	c := looseCollators.Get().(*looseCollator)
	text := v.bytes(c.scratch[:])
	if !utf8.Valid(text) {
		return dst, &ValueError{Value: v.clone(), Reason: "is not valid UTF-8"}
	}
	dst = hash(dst, c.weights(bytes.TrimRight(text, " ")))
	if len(text) <= maxPooledText {
		looseCollators.Put(c)
	}
	return dst, nil
}

// maxPooledText is the longest text, in bytes, whose buffers are kept.
const maxPooledText = 4096

var looseCollators = sync.Pool{New: func() any {
	return &looseCollator{collator: collate.New(language.Und, collate.Loose)}
}}

// looseCollator is for one goroutine at a time.
type looseCollator struct {
	collator *collate.Collator
	buffer   collate.Buffer
	scratch  [maxDigits]byte // for the digits of a number
}

// weights returns the primary weights of the text until the next call.
func (c *looseCollator) weights(text []byte) []byte {
	c.buffer.Reset()
	return c.collator.Key(&c.buffer, text)
}
