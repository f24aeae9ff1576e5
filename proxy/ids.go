package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/vschema"
)

// IDs are a sequence or a generator, for those who take ids without SQL. They are the ones that SQL takes: see
// [Server.FindIDs].
type IDs struct {
	Keyspace, Name string
	Type           vschema.GeneratorType // of a generator; "" of a sequence
	Keyed          bool                  // the vschema has it count by key

	server    *Server
	sequence  sequence.Name
	generator *vschema.Generator // nil of a sequence
}

// String returns the name with its keyspace.
func (i *IDs) String() string { return i.Keyspace + "." + i.Name }

// TakenIDs are ids of one taking.
type TakenIDs struct {
	Run  sequence.Range // numbers that follow each other; N is 0 for a list
	List []int64        // increasing numbers that need not follow each other
	Text []string       // what is no number
}

var (
	// ErrUnknownIDs: no sequence and no generator has the name.
	ErrUnknownIDs = errors.New("no such sequence or generator")
	// ErrDeniedIDs: who asks may not have ids of that name, whether or not there are any.
	ErrDeniedIDs = errors.New("ids of this name are denied")
	// ErrAmbiguousIDs: several keyspaces have a sequence or a generator of the name.
	ErrAmbiguousIDs = errors.New("name of several sequences or generators")
	// ErrIDsWithKey: ids were asked for with a key where there is none, or without one where it is needed.
	ErrIDsWithKey = errors.New("wrong use of a key")
)

// FindIDs finds a sequence or a generator by keyspace.name, or by its name alone when no two keyspaces have it: of the
// vschema, or a table with the columns of a sequence in an unsharded keyspace. Only names keyspace.name that may allows are
// looked for, so that the answer tells nothing of others; nil allows all. The error matches [ErrUnknownIDs],
// [ErrDeniedIDs] or [ErrAmbiguousIDs], or tells why the server could not be asked.
func (s *Server) FindIDs(ctx context.Context, name string, may func(string) bool) (*IDs, error) {
	within, table := s.splitIDs(name)
	if may != nil {
		within = slices.DeleteFunc(within, func(keyspace string) bool { return !may(keyspace + "." + table) })
	}
	if len(within) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrDeniedIDs, name)
	}
	v := s.VSchema()
	var found []*IDs
	for _, keyspace := range within {
		if i := s.declaredIDs(v, keyspace, table); i != nil {
			found = append(found, i)
		}
	}
	for _, keyspace := range within {
		if len(found) > 0 {
			break // as SQL: what the vschema names comes first
		}
		i, err := s.undeclaredIDs(ctx, keyspace, table)
		if err != nil {
			return nil, err
		}
		if i != nil {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %s", ErrUnknownIDs, name)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, i := range found {
		names = append(names, i.String())
	}
	return nil, fmt.Errorf("%w: %s; write one of %s", ErrAmbiguousIDs, name, strings.Join(names, ", "))
}

// splitIDs returns the keyspaces that a name may be of. Names may have dots.
func (s *Server) splitIDs(name string) (keyspaces []string, table string) {
	for keyspace := range s.cfg.Keyspaces {
		if rest, ok := strings.CutPrefix(name, keyspace+"."); ok && rest != "" {
			return []string{keyspace}, rest
		}
	}
	return slices.Sorted(maps.Keys(s.cfg.Keyspaces)), name
}

// declaredIDs returns a sequence or a generator of a vschema; nil for none. The vschema is the caller's: another one may be
// taken over at any time, and lack what the caller found.
func (s *Server) declaredIDs(v *vschema.VSchema, keyspace, table string) *IDs {
	if v == nil {
		return nil
	}
	declared, ok := v.Keyspace(keyspace)
	if !ok {
		return nil
	}
	i := &IDs{Keyspace: keyspace, Name: table, server: s, sequence: s.catalog.SequenceName(keyspace, table)}
	if g, ok := declared.Generator(table); ok {
		i.generator, i.Type = g, g.Type
		return i
	}
	if t, ok := declared.Table(table); ok && t.Type == vschema.Sequence {
		i.Keyed = t.Keyed
		return i
	}
	return nil
}

// undeclaredIDs returns a table with the columns of a sequence; nil for none.
func (s *Server) undeclaredIDs(ctx context.Context, keyspace, table string) (*IDs, error) {
	k := s.cfg.Keyspaces[keyspace]
	if k.Shards != nil {
		return nil, nil
	}
	e, err := s.catalog.Lookup(ctx, k, k.Database, table)
	if err != nil || !e.Table.LooksLikeSequence() {
		return nil, err
	}
	return &IDs{Keyspace: keyspace, Name: table, server: s, sequence: s.catalog.SequenceName(keyspace, table)}, nil
}

// AllIDs returns what the vschema names and what was used already, by name.
func (s *Server) AllIDs() []*IDs {
	all := make(map[string]*IDs)
	if v := s.VSchema(); v != nil {
		for _, k := range v.Keyspaces() {
			for _, g := range k.Generators() {
				all[k.Name+"."+g.Name] = s.declaredIDs(v, k.Name, g.Name)
			}
			for _, t := range k.Tables() {
				if t.Type == vschema.Sequence {
					all[k.Name+"."+t.Name] = s.declaredIDs(v, k.Name, t.Name)
				}
			}
		}
	}
	for _, name := range s.cfg.Sequences.Names() {
		k := s.cfg.Keyspaces[name.Keyspace]
		i := &IDs{Keyspace: name.Keyspace, Name: name.Table, server: s, sequence: name}
		if k != nil && k.Database == name.Database && all[i.String()] == nil {
			all[i.String()] = i
		}
	}
	var list []*IDs
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list
}

// ForeignKey returns the row's key in the other system's table or counter, of a generator that takes segments there (biz_tag
// of Leaf); "" for others.
func (i *IDs) ForeignKey() string {
	if i.generator == nil || i.generator.Segments == nil {
		return ""
	}
	return i.generator.Segments.Key
}

// Lists reports whether n ids come one by one, and not as a run.
func (i *IDs) Lists(n int64) bool {
	switch {
	case i.generator == nil || i.generator.Segments != nil:
		return false
	case i.generator.IsText():
		return true
	}
	l, _, err := generate.Layout(i.generator)
	return err == nil && n > generate.LongestRun(l)
}

// Take takes n ids, which nobody else gets, whatever becomes of them. The errors are those of [sequence.Sequence.Next] and
// [generate.Snowflake.Next], or match [ErrIDsWithKey]; [ErrorNumber] has their numbers.
func (i *IDs) Take(ctx context.Context, n int64) (TakenIDs, error) {
	switch {
	case i.Keyed:
		return TakenIDs{}, fmt.Errorf("%w: %s counts by key: name the key", ErrIDsWithKey, i)
	case n < 1:
		return TakenIDs{}, &sequence.Error{Kind: sequence.ErrInvalidCount, Sequence: i.String(), Text: "gives 1 id or more"}
	case i.generator != nil && i.generator.IsText():
		return i.takeTexts(n)
	case i.generator != nil && i.generator.Segments == nil:
		return i.takeSnowflakes(ctx, n)
	}
	seq, err := i.server.cfg.Sequences.Get(i.sequence)
	if err != nil {
		return TakenIDs{}, err
	}
	run, err := seq.Next(ctx, n)
	i.server.discard(i.sequence, err)
	return TakenIDs{Run: run}, err
}

// TakeOfKey takes the next n values of a key in a keyed sequence. The errors are those of [keyed.Sequence.Next], or match
// [ErrIDsWithKey].
func (i *IDs) TakeOfKey(ctx context.Context, key string, n int64) (TakenIDs, error) {
	switch {
	case i.generator != nil:
		return TakenIDs{}, fmt.Errorf("%w: %s does not count by key: leave the key out", ErrIDsWithKey, i)
	case i.server.cfg.Keyed == nil:
		return TakenIDs{}, fmt.Errorf("%w: this seqgate serves no keyed sequences", ErrIDsWithKey)
	}
	seq, err := i.server.cfg.Keyed(i.sequence)
	if err != nil {
		return TakenIDs{}, err
	}
	run, err := seq.Next(ctx, []byte(key), n)
	return TakenIDs{Run: run}, err
}

func (i *IDs) takeSnowflakes(ctx context.Context, n int64) (TakenIDs, error) {
	f, err := i.server.cfg.Generators.Snowflake(i.generator)
	if err != nil {
		return TakenIDs{}, err
	}
	if n <= f.Longest {
		run, err := f.Next(ctx, n)
		return TakenIDs{Run: run}, err
	}
	list := make([]int64, n)
	err = f.Fill(ctx, list)
	return TakenIDs{List: list}, err
}

func (i *IDs) takeTexts(n int64) (TakenIDs, error) {
	form := generate.Dashed
	if i.Type == vschema.ObjectID {
		form = generate.Hex
	}
	all, err := i.server.cfg.Generators.AppendTexts(nil, n, i.Type, form)
	if err != nil {
		return TakenIDs{}, err
	}
	size := form.Size(i.Type)
	taken := TakenIDs{Text: make([]string, n)}
	for at := range taken.Text {
		taken.Text[at] = string(all[at*size : (at+1)*size])
	}
	return taken, nil
}

// ErrorNumber returns the number and the text of the MySQL error that a client sees for err.
func ErrorNumber(err error) (number uint16, text string) {
	e := clientError(err)
	return e.Code, e.Message
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
