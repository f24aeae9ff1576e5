package app

import (
	"strings"

	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/seqgate/seqgate/proxy/generate"
)

// generatorStatuses returns what the admin address tells of the generators of type snowflake.
func generatorStatuses(set *generate.Set) func() []admin.GeneratorStatus {
	return func() (all []admin.GeneratorStatus) {
		for _, st := range set.Statuses() {
			all = append(all, generatorStatus(st))
		}
		return all
	}
}

func generatorStatus(st generate.Status) admin.GeneratorStatus {
	keyspace, name, _ := strings.Cut(st.Generator, ".")
	w := st.Worker
	return admin.GeneratorStatus{
		Keyspace: keyspace, Name: name, Layout: st.Layout.Name, From: st.From, Err: w.Err, Ends: st.Layout.Ends(), IDs: st.Made,
		Held: w.Held, Worker: w.Worker, Leased: !st.Static, LeaseLeft: w.Left, LeaseErrors: w.Failures, LeaseLosses: w.Losses,
		ClockKnown: w.Compared, ClockOffset: w.Ahead,
		Waits: w.Generator.Waits, ClockSteps: w.Generator.Steps, Borrowed: w.Generator.Ahead,
	}
}
