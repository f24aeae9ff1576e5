// Package plan is what is known of a statement before it runs, and what follows from its answer. It asks nothing in the session: what it may do to its
// session (Effect), what becomes of an INSERT or of next values, or which fact is missing to say so (Planner, Missing), how its
// ids are filled (Fill), where it goes in front of shards (Router, ShardedInsert), and what its client has to see of it (Outcome, Verdict),
// equal to what a native AUTO_INCREMENT gives (docs/insert-ids.md).
package plan
