package generate

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

func TestFormFor(t *testing.T) {
	for _, tt := range []struct {
		columnType string
		uuid, oid  Form // 0: refused
	}{
		{"char(36)", Dashed, Hex}, {"varchar(255)", Dashed, Hex}, {"varchar(35)", Hex, Hex}, {"CHAR(32)", Hex, Hex},
		{"varchar(31)", 0, Hex}, {"char(24)", 0, Hex}, {"char(23)", 0, 0}, {"binary(16)", Binary, 0}, {"binary(12)", 0, Binary},
		{"varbinary(16)", Binary, Binary}, {"varbinary(12)", 0, Binary}, {"varbinary(11)", 0, 0}, {"binary(36)", 0, 0}, {"uuid", Dashed, 0},
		{"text", 0, 0}, {"bigint(20)", 0, 0}, {"int", 0, 0}, {"", 0, 0},
	} {
		for typ, want := range map[vschema.GeneratorType]Form{vschema.UUID: tt.uuid, vschema.UUID7: tt.uuid, vschema.ObjectID: tt.oid} {
			got, err := FormFor(typ, tt.columnType)
			if got != want || (err == nil) != (want != 0) {
				t.Errorf("%s in %s: form %d, %v; want %d", typ, tt.columnType, got, err, want)
			}
		}
	}
}

func TestAppendTexts(t *testing.T) {
	s := New(Config{})
	for _, typ := range []vschema.GeneratorType{vschema.UUID, vschema.UUID7, vschema.ObjectID} {
		for _, form := range []Form{Dashed, Hex, Binary} {
			if typ == vschema.ObjectID && form == Dashed {
				continue
			}
			text, err := s.AppendTexts([]byte("before"), 3, typ, form)
			if err != nil {
				t.Fatal(err)
			}
			size := form.Size(typ)
			if want := len("before") + 3*size; len(text) != want {
				t.Fatalf("%s in form %d: %d bytes, want %d", typ, form, len(text), want)
			}
			last := text[len(text)-size:]
			if typ == vschema.ObjectID {
				continue
			}
			read := uuid.ParseBytes
			if form == Binary {
				read = uuid.FromBytes
			}
			id, err := read(last)
			version := map[vschema.GeneratorType]uuid.Version{vschema.UUID: 4, vschema.UUID7: 7}[typ]
			if err != nil || id.Version() != version || id.Variant() != uuid.RFC4122 || form == Dashed && id.String() != string(last) {
				t.Errorf("%s in form %d: %q is of version %d, %v; want %d", typ, form, last, id.Version(), err, version)
			}
		}
	}
}

// The count of a second may run over, and the clock go back: no ObjectID comes twice, and each is above the one before.
func TestObjectIDs(t *testing.T) {
	o := newObjectIDs()
	now := time.Unix(1_800_000_000, 0)
	before := string(make([]byte, 12))
	take := func(at time.Time) {
		t.Helper()
		id := o.next(at)
		if string(id[:]) <= before {
			t.Errorf("%x after %x", id, before)
		}
		before = string(id[:])
	}
	take(now)
	take(now)
	o.last.Store(now.Unix()<<countBits | 1<<countBits - 2) // the count of this second is nearly used up
	for range 4 {
		take(now)
	}
	take(now.Add(-time.Hour))
	if got := o.next(now.Add(time.Minute)); got[3] != byte((now.Unix()+60)&0xff) || string(got[4:9]) != string(o.process[:]) {
		t.Errorf("got %x, want the second and the process in it", got)
	}
	if other := newObjectIDs(); other.process == o.process {
		t.Error("two processes have the same 5 bytes")
	}
}

func flake(params vschema.SnowflakeParams) *vschema.Generator {
	return &vschema.Generator{Keyspace: "main", Name: "g", Type: vschema.Snowflake, Snowflake: &params}
}

// A worker id is leased for a vschema, and another one when it is lost; generators with the same ids share it.
func TestLeases(t *testing.T) {
	leases := sequencetest.NewLeases("test", 127)
	var sets []WorkerIDs
	s := New(Config{Workers: &Workers{From: "memory", Lease: worker.Config{Lease: time.Minute}, Leaser: func(ids WorkerIDs) (worker.Leaser, error) {
		sets = append(sets, ids)
		return leases.Leaser(), nil
	}}})
	v := load(t, `"a": {"type": "snowflake", "params": {"layout": "twitter"}}, "b": {"type": "snowflake", "params": {"layout": "twitter"}},
		"c": {"type": "snowflake", "params": {"layout": "twitter", "zone": 3}}`)
	if err := errors.Join(s.Use(v), s.Ready(t.Context())); err != nil {
		t.Fatal(err)
	}
	const set = "time41-worker10-sequence12-1ms-since-1288834974657"
	if want := []WorkerIDs{{set, 0, 31}, {set, 96, 127}}; !slices.Equal(sets, want) {
		t.Errorf("worker ids %v, want %v", sets, want)
	}
	all := s.Statuses()
	if len(all) != 3 || all[0].Worker.Worker != all[1].Worker.Worker || all[0].Generator != "main.a" || all[0].From != "memory" || !all[2].Worker.Held {
		t.Errorf("got %+v", all)
	}
	f, err := s.Snowflake(generator(t, v, "a"))
	if err != nil {
		t.Fatal(err)
	}
	ids, err := f.Next(t.Context(), 4096)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := f.Layout.Decode(ids.Last()); err != nil || d.Worker != all[0].Worker.Worker {
		t.Errorf("an id of worker %d, %v; want %d", d.Worker, err, all[0].Worker.Worker)
	}
	if _, err := f.Next(t.Context(), 4097); !errors.Is(err, sequence.ErrInvalidCount) {
		t.Errorf("4097 ids: %v, want %v", err, sequence.ErrInvalidCount)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Fill(t.Context(), make([]int64, 1)); !errors.Is(err, sequence.ErrClosed) || !strings.Contains(err.Error(), "generator main.a") {
		t.Errorf("after Close: %v, want %v", err, sequence.ErrClosed)
	}
	if err := s.Use(load(t, `"d": {"type": "snowflake", "params": {"layout": "leaf"}}`)); !errors.Is(err, sequence.ErrClosed) {
		t.Errorf("a new generator after Close: %v, want %v", err, sequence.ErrClosed)
	}
}

// The generators of another vschema with the same ids go on where the old ones were.
func TestUse(t *testing.T) {
	s := New(Config{Workers: StaticWorkers(1, "", worker.Config{})})
	defer closeSet(t, s)
	last := int64(0)
	for range 3 {
		v := load(t, `"g": {"type": "snowflake", "params": {"layout": "twitter"}}`)
		if err := s.Use(v); err != nil {
			t.Fatal(err)
		}
		f, err := s.Snowflake(generator(t, v, "g"))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := s.Snowflake(generator(t, v, "g")); again != f {
			t.Error("a second one was made")
		}
		for range 10 {
			ids, err := f.Next(t.Context(), 4096)
			if err != nil || ids.First <= last {
				t.Fatalf("ids from %d after %d, %v", ids.First, last, err)
			}
			last = ids.Last()
		}
	}
	if n := len(s.Statuses()); n != 1 {
		t.Errorf("%d are in use, want 1", n)
	}
}

func TestNoWorkers(t *testing.T) {
	v := load(t, `"g": {"type": "snowflake", "params": {"layout": "twitter"}}, "own": {"type": "snowflake", "params": {"layout": "twitter", "worker": 4}}`)
	for _, tt := range []struct {
		workers *Workers
		want    string
	}{
		{nil, "generator main.g: this seqgate has no worker ids"},
		{StaticWorkers(32, "", worker.Config{}), "generator main.g: worker id 32 does not fit: the layout has 0 to 31"},
	} {
		s := New(Config{Workers: tt.workers})
		defer closeSet(t, s)
		if err := s.Use(v); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
		if all := s.Statuses(); len(all) != 1 || all[0].From != "worker_id 4" {
			t.Errorf("of the other: %+v", all)
		}
	}
}

// Leases do not know of worker ids that generators name.
func TestMixedWorkers(t *testing.T) {
	leases := sequencetest.NewLeases("test", 31)
	s := New(Config{Workers: &Workers{From: "memory", Leaser: func(WorkerIDs) (worker.Leaser, error) { return leases.Leaser(), nil }}})
	defer closeSet(t, s)
	v := load(t, `"a": {"type": "snowflake", "params": {"layout": "twitter"}}, "b": {"type": "snowflake", "params": {"layout": "twitter", "worker": 4}},
		"c": {"type": "snowflake", "params": {"layout": "twitter", "worker": 4, "zone": 1}}, "d": {"type": "snowflake", "params": {"layout": "twitter", "worker": 5, "zone": 1}}`)
	if errs := s.Check(v); len(errs) != 1 || errs[0].Generator.Name != "b" || strings.Contains(errs[0].Err.Error(), "started again") {
		t.Errorf("Check gives %v, want an error of b", errs)
	}
	err := s.Use(v)
	if err == nil || !strings.Contains(err.Error(), "generator main.b: another generator with the same bits") || len(s.Statuses()) != 3 {
		t.Errorf("got %v and %d in use, want an error of b alone", err, len(s.Statuses()))
	}
}

// Layouts whose ids could be the same do not get the same worker id, and what a process has begun with stays.
func TestSameIDs(t *testing.T) {
	leases := sequencetest.NewLeases("test", 1023)
	s := New(Config{Workers: &Workers{From: "memory", Leaser: func(WorkerIDs) (worker.Leaser, error) { return leases.Leaser(), nil }}})
	defer closeSet(t, s)
	both := load(t, `"a": {"type": "snowflake", "params": {"layout": "twitter"}}, "b": {"type": "snowflake", "params": {"layout": "leaf"}}`)
	if err := errors.Join(s.Use(both), s.Ready(t.Context())); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for _, name := range []string{"a", "b"} {
		f, err := s.Snowflake(generator(t, both, name))
		if err != nil {
			t.Fatal(err)
		}
		for range 5000 {
			ids, err := f.Next(t.Context(), 1)
			if err != nil || seen[ids.First] {
				t.Fatalf("id %d of %s twice, or %v", ids.First, name, err)
			}
			seen[ids.First] = true
		}
	}
	view, err := siblings{leases.Leaser(), s, "time41-worker10-sequence12-1ms-since-1288834974657"}.Look(t.Context())
	if err != nil || len(view.Peers) != 0 {
		t.Errorf("the process has itself as a second opinion: %v, %v", view.Peers, err)
	}
	for _, tt := range []struct{ generators, want string }{
		{`"a": {"type": "snowflake", "params": {"layout": "twitter", "worker": 9}}`, "leases do not know"},
		{`"a": {"type": "snowflake", "params": {"layout": "twitter", "max_borrow": "3s"}}`, "has another max_borrow"},
		{`"a": {"type": "snowflake", "params": {"layout": "twitter", "start": "random"}}`, "has another max_borrow, start"},
		{`"a": {"type": "snowflake", "params": {"layout": "twitter", "zone": 5}}, "b": {"type": "snowflake", "params": {"layout": "js53", "worker": 1}}`, ""},
	} {
		errs := s.Check(load(t, tt.generators))
		if tt.want == "" && len(errs) == 0 {
			continue
		}
		if len(errs) != 1 || tt.want == "" || !strings.Contains(errs[0].Err.Error(), tt.want) || !strings.Contains(errs[0].Err.Error(), "until it is started again") {
			t.Errorf("%s: %v, want %q", tt.generators, errs, tt.want)
		}
	}
}

// Another system has used the worker ids below the least.
func TestLeastWorker(t *testing.T) {
	leases := sequencetest.NewLeases("test", 63)
	memory := &Workers{From: "memory", Lease: worker.Config{Least: 30}, Leaser: func(WorkerIDs) (worker.Leaser, error) { return leases.Leaser(), nil }}
	s := New(Config{Workers: memory})
	defer closeSet(t, s)
	v := load(t, `"a": {"type": "snowflake", "params": {"layout": "twitter", "zone": 1}}`)
	if err := errors.Join(s.Use(v), s.Ready(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := s.Statuses()[0].Worker.Worker; got != 30 {
		t.Errorf("worker id %d, want 30", got)
	}
	memory.Lease.Least = 32
	if err := s.Use(load(t, `"b": {"type": "snowflake", "params": {"layout": "js53"}}`)); err == nil || !strings.Contains(err.Error(), "the least is 32, and the layout has 0 to 31") {
		t.Errorf("got %v", err)
	}
}

// What a static worker id has reserved is kept, a file for each set.
func TestStaticDir(t *testing.T) {
	dir := t.TempDir()
	v := load(t, `"g": {"type": "snowflake", "params": {"layout": "twitter"}}, "own": {"type": "snowflake", "params": {"layout": "leaf", "worker": 4}}`)
	s := New(Config{Workers: StaticWorkers(7, dir, worker.Config{}), Dir: dir})
	if err := errors.Join(s.Use(v), s.Ready(t.Context())); err != nil {
		t.Fatal(err)
	}
	closeSet(t, s)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 2 || !strings.HasSuffix(files[0], ".worker4.json") || !strings.HasSuffix(files[1], ".worker7.json") {
		t.Errorf("files %q, %v", files, err)
	}
}

func load(t *testing.T, generators string) *vschema.VSchema {
	t.Helper()
	v, err := vschema.Load("v.json", []byte(`{"keyspaces": {"main": {"generators": {`+generators+`}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func generator(t *testing.T, v *vschema.VSchema, name string) *vschema.Generator {
	t.Helper()
	k, _ := v.Keyspace("main")
	g, ok := k.Generator(name)
	if !ok {
		t.Fatalf("no generator %s", name)
	}
	return g
}

func closeSet(t *testing.T, s *Set) {
	t.Helper()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLayout(t *testing.T) {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	bits := []vschema.BitField{{Name: "time", Bits: 40}, {Name: "sequence", Bits: 13}, {Name: "worker", Bits: 10}}
	l, zone, err := Layout(flake(vschema.SnowflakeParams{Bits: bits, Epoch: epoch, Unit: 2 * time.Millisecond, Start: "random", StartBound: 50}))
	if err != nil || zone != 0 || l.Unit != 2*time.Millisecond || l.Epoch != epoch.UnixMilli() || !l.Start.Random || l.Start.Bound != 50 || l.Name != "g" {
		t.Errorf("got %+v, zone %d, %v", l, zone, err)
	}
	if LongestRun(l) != 1 || MaxID(l) != 1<<63-1 || Describe(l) != "40 bits of 2ms since 2026-01-01, 13 sequence, 10 worker" {
		t.Errorf("run %d, largest %d, %q", LongestRun(l), MaxID(l), Describe(l))
	}
	twitter, zone, err := Layout(flake(vschema.SnowflakeParams{Layout: "twitter", ZoneName: "eu", Epoch: epoch}))
	if err != nil || twitter.Epoch != epoch.UnixMilli() || zone != twitter.HashZone("eu") || LongestRun(twitter) != 4096 {
		t.Errorf("got %+v, zone %d, %v", twitter, zone, err)
	}
	if _, _, err := Layout(flake(vschema.SnowflakeParams{Layout: "nope"})); err == nil {
		t.Error("layout nope: no error")
	}
}
