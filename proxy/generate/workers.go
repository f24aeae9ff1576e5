package generate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// Workers is where the worker ids of snowflakes come from.
type Workers struct {
	// From says to people where: "worker_id 7", "table main.seqgate_workers".
	From string
	// Leaser returns worker ids of a set, of which no two processes have the same at a time.
	Leaser func(WorkerIDs) (worker.Leaser, error)
	// Lease says how they are leased. Of its Generator MaxBorrow is the vschema's.
	Lease worker.Config

	static *int64 // see StaticWorkers
}

// StaticWorkers returns one worker id that somebody has given to this process alone. dir is the folder in which a file for
// each set keeps the time that was reserved (see [worker.Static]); "": none.
func StaticWorkers(id int64, dir string, lease worker.Config) *Workers {
	lease.Lease = worker.StaticLease
	return &Workers{From: fmt.Sprintf("worker_id %d", id), Lease: lease, static: &id, Leaser: func(ids WorkerIDs) (worker.Leaser, error) {
		if id < 0 || id > ids.Last-ids.First {
			return nil, fmt.Errorf("worker id %d does not fit: the layout has 0 to %d", id, ids.Last-ids.First)
		}
		path := ""
		if dir != "" {
			path = filepath.Join(dir, fmt.Sprintf("%s%s%d%s", ids.Set, fileWorker, ids.First+id, fileEnd))
		}
		static := worker.NewStatic(ids.First+id, path)
		static.Rivals = func(file string) bool {
			set, _, _ := strings.Cut(file, fileWorker)
			return strings.HasSuffix(file, fileEnd) && ids.Rivals(set)
		}
		return static, nil
	}}
}

// fileWorker and fileEnd are what follows the set in the name of a static worker id's file, around its number.
const fileWorker, fileEnd = ".worker", ".json"

// noWorkers is what a process has that was given no worker ids.
var noWorkers = &Workers{From: "nowhere", Leaser: func(WorkerIDs) (worker.Leaser, error) {
	return nil, fmt.Errorf("this seqgate has no worker ids: set worker_id in its configuration (SEQGATE_WORKER_ID), or worker_ids.keyspace")
}}

// WorkerIDs are the worker ids of a layout and zone: First to Last of a set. Layouts whose ids could be the same share a
// set, whatever they are called: where the zone lies right above the worker, they are one number in it. So worker 7 of zone 1 of
// twitter is worker 39 of leaf, and two processes cannot have both.
type WorkerIDs struct {
	Set         string // fits into a file's name
	First, Last int64
}

// WorkerIDsOf returns those of a layout and zone.
func WorkerIDsOf(l snowflake.Layout, zone int64) WorkerIDs {
	fields := slices.DeleteFunc(slices.Clone(l.Fields[:]), func(f snowflake.Field) bool { return f.Bits == 0 })
	ids := WorkerIDs{Last: l.Max(snowflake.Worker)}
	suffix := ""
	at := slices.IndexFunc(fields, func(f snowflake.Field) bool { return f.Name == snowflake.Zone })
	switch {
	case at < 0:
	case at+1 < len(fields) && fields[at+1].Name == snowflake.Worker:
		ids.First = zone << fields[at+1].Bits
		ids.Last += ids.First
		fields[at+1].Bits += fields[at].Bits
		fields = slices.Delete(fields, at, at+1)
	default:
		suffix = fmt.Sprintf("-zone-%d", zone)
	}
	for _, f := range fields {
		ids.Set += fmt.Sprintf("%s%d-", f.Name, f.Bits)
	}
	ids.Set += fmt.Sprintf("%v-since-%d%s", l.Unit, l.Epoch, suffix)
	return ids
}
