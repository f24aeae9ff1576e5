package catalog

import "testing"

// A sequence is called by its keyspace's name, and no two sequences of a keyspace by the same.
func TestSequenceName(t *testing.T) {
	main := &Keyspace{Name: "main", Database: "shop"}
	shard := &Keyspace{Name: "customer", Shard: "80-", Database: "customer_1"}
	nameless := &Keyspace{} // serves all databases
	for _, tt := range []struct {
		keyspace              *Keyspace
		database, table, want string
	}{
		{main, "shop", "users_seq", "main.users_seq"},
		{main, "other", "users_seq", "main.other.users_seq"},
		{shard, "customer_1", "a_seq", "customer.customer_1.a_seq"},
		{nameless, "shop", "users_seq", "shop.users_seq"},
	} {
		if got := tt.keyspace.SequenceName(tt.database, tt.table).String(); got != tt.want {
			t.Errorf("sequence %s of database %s in keyspace %q is called %s, want %s", tt.table, tt.database, tt.keyspace.Name, got, tt.want)
		}
	}
}
