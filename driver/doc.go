// Package driver is a database/sql driver that fills ids in the client's process, without a proxy beside it, as VtDriver
// does for Java: an INSERT that leaves the id of a sequenced table open gets it before it reaches the server, and SELECT
// NEXT VALUE is answered from memory.
//
// It is all of seqgate's proxy for one unsharded server, in the process: each of the pool's connections goes through a
// socket pair to it, and nothing listens. So every statement, its insert ids and its errors are those that docs/sql.md
// tells of. Processes with this driver, seqgates and Vitess share sequence tables.
//
//	db, err := sql.Open("seqgate", "app:app@tcp(127.0.0.1:3306)/shop")
//
// fills a table t from the sequence table t_seq beside it. [NewConnector] takes a vschema and more for [sql.OpenDB].
package driver
