package main

import (
	"context"
	"encoding/hex"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

// Limits of the twitter layout, which has as many ids in a millisecond and as many workers in a zone.
const (
	maxStatement = 4096
	maxWriters   = 32
)

// seqgateBlock is how many ids of a sequence a writer takes at once, where each is a seqgate of its own.
const seqgateBlock = 10_000

// key is a kind of primary key.
type key struct {
	name   string
	table  string
	column string // its type
	open   func(writers int) ([]source, error)
}

// source makes the keys of one writer.
type source interface {
	// keys appends n keys to list, as SQL literals.
	keys(ctx context.Context, list []string, n int) ([]string, error)
}

// keys returns all kinds; the others are compared with the first.
func keys() []key {
	const bigint, text, binary = "BIGINT", "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin", "BINARY(16)"
	return []key{
		{"BIGINT, sequential", "sequential", bigint, func(writers int) ([]source, error) { return blocks(writers, 1) }},
		{"BIGINT, a sequence in blocks", "blocks", bigint, func(writers int) ([]source, error) { return blocks(writers, seqgateBlock) }},
		{"BIGINT, snowflake", "snowflake", bigint, snowflakes},
		{"BINARY(16), UUID v7", "uuid7_binary", binary, uuids(uuid.NewV7, binaryLiteral)},
		{"CHAR(36), UUID v7", "uuid7_char", text, uuids(uuid.NewV7, textLiteral)},
		{"BINARY(16), UUID v4", "uuid4_binary", binary, uuids(uuid.NewRandom, binaryLiteral)},
		{"CHAR(36), UUID v4", "uuid4_char", text, uuids(uuid.NewRandom, textLiteral)},
	}
}

// block is a writer's share of a sequence: it takes size ids at once, or as many as it needs if that is more.
type block struct {
	sequence   *atomic.Int64 // the last id taken
	size       int64
	next, left int64
}

func blocks(writers int, size int64) ([]source, error) {
	var sequence atomic.Int64
	all := make([]source, writers)
	for i := range all {
		all[i] = &block{sequence: &sequence, size: size}
	}
	return all, nil
}

func (b *block) keys(_ context.Context, list []string, n int) ([]string, error) {
	if b.left < int64(n) { // what is left is dropped: the ids of a statement follow each other
		b.left = max(b.size, int64(n))
		b.next = b.sequence.Add(b.left) - b.left + 1
	}
	for i := range int64(n) {
		list = append(list, strconv.FormatInt(b.next+i, 10))
	}
	b.next += int64(n)
	b.left -= int64(n)
	return list, nil
}

// flake is a generator with the worker id of its writer.
type flake struct{ *snowflake.Generator }

func snowflakes(writers int) ([]source, error) {
	layout, _ := snowflake.Preset("twitter") // New refuses the zero Layout
	all := make([]source, writers)
	for i := range all {
		g, err := snowflake.New(layout, 0, int64(i), snowflake.Config{After: time.Now()})
		if err != nil {
			return nil, err
		}
		all[i] = flake{g}
	}
	return all, nil
}

func (f flake) keys(ctx context.Context, list []string, n int) ([]string, error) {
	run, err := f.Next(ctx, int64(n))
	if err != nil {
		return nil, err
	}
	for i := range run.N {
		list = append(list, strconv.FormatInt(run.ID(i), 10))
	}
	return list, nil
}

// random makes UUIDs, alike for all writers.
type random struct {
	generate func() (uuid.UUID, error)
	literal  func(uuid.UUID) string
}

func uuids(generate func() (uuid.UUID, error), literal func(uuid.UUID) string) func(int) ([]source, error) {
	return func(writers int) ([]source, error) {
		all := make([]source, writers)
		for i := range all {
			all[i] = random{generate, literal}
		}
		return all, nil
	}
}

func (r random) keys(_ context.Context, list []string, n int) ([]string, error) {
	for range n {
		id, err := r.generate()
		if err != nil {
			return nil, err
		}
		list = append(list, r.literal(id))
	}
	return list, nil
}

func binaryLiteral(id uuid.UUID) string { return "0x" + hex.EncodeToString(id[:]) }
func textLiteral(id uuid.UUID) string   { return "'" + id.String() + "'" }
