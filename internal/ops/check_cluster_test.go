package ops

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/config"
)

// What does not go with Galera is told of its servers alone.
func TestClusterFaults(t *testing.T) {
	galera := clusterState{Galera: true, Increment: "1"}
	for _, tt := range []struct {
		name    string
		cfg     config.Config
		shard   string
		cluster clusterState
		want    string // the begin of the only text; "" for none
		fails   bool
	}{
		{"nothing", config.Config{}, "-80", galera, "", false},
		{"xa", config.Config{Transactions: config.TransactionsXA}, "-80", galera, "transactions: xa cannot work here", true},
		{"xa beside", config.Config{Transactions: config.TransactionsXA}, "", galera, "", false},
		{"xa elsewhere", config.Config{Transactions: config.TransactionsXA}, "-80", clusterState{Increment: "1"}, "", false},
		{"skip", config.Config{Sequences: config.Sequences{FailoverSkip: 5}}, "", galera, "failover_skip makes no sense", false},
		{"skip of one sequence", config.Config{Sequences: config.Sequences{Overrides: map[string]config.SequenceOverride{"main.s": {FailoverSkip: 5}}}}, "", galera, "failover_skip makes no sense", false},
		{"skip of another keyspace's", config.Config{Sequences: config.Sequences{Overrides: map[string]config.SequenceOverride{"other.s": {FailoverSkip: 5}}}}, "", galera, "", false},
		{"skip elsewhere", config.Config{Sequences: config.Sequences{FailoverSkip: 5}}, "", clusterState{Increment: "1"}, "", false},
		{"increment", config.Config{}, "", clusterState{Increment: "7"}, "auto_increment_increment is 7", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults := clusterFaults(&tt.cfg, &Server{Keyspace: "main", Shard: tt.shard}, tt.cluster)
			switch {
			case tt.want == "" && len(faults) > 0, tt.want != "" && len(faults) != 1:
				t.Errorf("got %v, want %q", faults, tt.want)
			case tt.want != "" && (!strings.HasPrefix(faults[0].Text, tt.want) || faults[0].Fails != tt.fails):
				t.Errorf("got %v, want %q", faults, tt.want)
			}
		})
	}
}
