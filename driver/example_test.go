package driver_test

import (
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/seqgate/seqgate/driver"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// dsn is the server of the examples: TestExamples runs them with a real one, where users and orders are tables and
// users_seq and numbers sequence tables.
var dsn = "app:app@tcp(127.0.0.1:3306)/shop"

// Without more than the driver's name, a table is filled from the sequence table beside it: users from users_seq.
func Example() {
	db, err := sql.Open("seqgate", dsn)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() // unused ids go back

	result, err := db.Exec("INSERT INTO users (name) VALUES (?), (?)", "Ada", "Grace")
	if err != nil {
		log.Fatal(err)
	}
	first, err := result.LastInsertId()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Ada is", first)

	var next int64
	if err := db.QueryRow("SELECT NEXT VALUE FROM users_seq").Scan(&next); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the next id is", next)
}

// A vschema says which columns are filled, and by what.
func ExampleNewConnector() {
	schema, err := vschema.Load("vschema.json", []byte(`{"keyspaces": {"shop": {"tables": {
		"numbers": {"type": "sequence"},
		"orders": {"auto_increment": {"column": "order_id", "sequence": "numbers"}}}}}}`))
	if err != nil {
		log.Fatal(err)
	}
	connector, err := driver.NewConnector(dsn, driver.Config{
		Keyspace: "shop", VSchema: schema,
		Refill:    sequence.StrategyIncrement,
		Sequences: sequence.Config{Timeout: 5 * time.Second}, // how long a statement waits for ids
	})
	if err != nil {
		log.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()

	tx, err := db.Begin()
	if err != nil {
		log.Fatal(err)
	}
	defer tx.Rollback()
	result, err := tx.Exec("INSERT INTO orders (total) VALUES (100)")
	if err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("order", id)
	for _, status := range connector.Sequences() {
		fmt.Println(status.Name.Table, "was refilled", status.Refills, "time")
	}
}
