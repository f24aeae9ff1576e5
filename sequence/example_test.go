package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// dsn is the server of the examples: TestExamples runs them with a real one.
var dsn = "app:app@tcp(127.0.0.1:3306)/shop"

// database is the one of dsn.
var database = "shop"

// Ids of one sequence, whose table is made when it is missing.
func Example() {
	ctx := context.Background()
	pool, err := sequence.OpenPool(dsn) // a small pool of its own, beside the program's
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := sequence.Seed(ctx, pool, database, "order_seq", 1, sequence.DefaultCache); err != nil {
		log.Fatal(err)
	}

	orders := sequence.Open(sequence.Name{Database: database, Table: "order_seq"},
		sequence.Settings{Store: sequence.ForUpdate{DB: pool}}, sequence.Config{})
	defer orders.Close(ctx) // unused ids go back

	one, err := orders.Next(ctx, 1) // from memory, but for the first of each 1000
	if err != nil {
		log.Fatal(err)
	}
	block, err := orders.Next(ctx, 100)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(one.First)
	fmt.Println(block.First, "to", block.Last())
}

// All sequences of a server, by name.
func ExampleRegistry() {
	ctx := context.Background()
	pool, err := sequence.OpenPool(dsn)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	for _, table := range []string{"user_seq", "message_seq"} {
		if err := sequence.Seed(ctx, pool, database, table, 500, 100); err != nil {
			log.Fatal(err)
		}
	}

	sequences := sequence.NewRegistry(sequence.Same(sequence.Increment{DB: pool}), sequence.Config{
		MinLifetime: 15 * time.Minute, // how long a block lasts: its size follows
		Timeout:     5 * time.Second,  // for a database that is away
	})
	defer sequences.Close(ctx)
	for _, table := range []string{"user_seq", "message_seq", "user_seq"} {
		seq, err := sequences.Get(sequence.Name{Database: database, Table: table})
		if err != nil {
			log.Fatal(err)
		}
		ids, err := seq.Next(ctx, 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(table, ids.First)
	}
	for _, status := range sequences.Snapshot() {
		fmt.Println(status.Name.Table, "has", status.Current.N+status.Next.N, "left in memory")
	}
}

// An id stands in the order of commits over all processes, at the price of a round trip.
func ExampleSettings_ordered() {
	ctx := context.Background()
	pool, err := sequence.OpenPool(dsn)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := sequence.Seed(ctx, pool, database, "event_seq", 1, 1); err != nil {
		log.Fatal(err)
	}
	settings := sequence.Settings{Store: sequence.Increment{DB: pool}, Ordered: true}
	name := sequence.Name{Database: database, Table: "event_seq"}
	here, there := sequence.Open(name, settings, sequence.Config{}), sequence.Open(name, settings, sequence.Config{})
	defer here.Close(ctx)
	defer there.Close(ctx)
	for _, seq := range []*sequence.Sequence{here, there, here} {
		ids, err := seq.Next(ctx, 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ids.First)
	}
}

// What can go wrong matches an error of the package.
func ExampleSequence_Next_errors() {
	ctx := context.Background()
	pool, err := sequence.OpenPool(dsn)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	seq := sequence.Open(sequence.Name{Database: database, Table: "nothing_seq"},
		sequence.Settings{Store: sequence.CAS{DB: pool}}, sequence.Config{})
	defer seq.Close(ctx)

	_, err = seq.Next(ctx, 1)
	switch {
	case errors.Is(err, sequence.ErrUnavailable):
		fmt.Println("the database is away: try again later")
	case errors.Is(err, sequence.ErrExhausted):
		fmt.Println("no ids are left")
	case errors.Is(err, sequence.ErrNoTable):
		fmt.Println("there is no such sequence")
	}
}
