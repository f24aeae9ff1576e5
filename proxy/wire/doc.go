// Package wire has the bytes of the MySQL client/server protocol after the login: packets
// on a connection and what may keep them waiting, compression, where an answer ends, OK
// and ERR packets, column definitions, and the parameters of prepared statements and of
// query attributes. It knows neither sessions nor SQL.
//
// go-mysql reads and writes whole packets and results; a relay follows an answer without
// decoding it, and must not allocate for it. From go-mysql come the numbers and the
// length-encoded integers.
package wire
