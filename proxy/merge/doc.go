// Package merge makes one result of the rows that several shards answer a SELECT
// with. It reads and writes rows as they stand in packets, in the text protocol and
// in the binary protocol of prepared statements, and knows no sockets.
//
// Rows stream: concatenation and a merge of sorted rows hold one row of each source.
// Only groups in another order than their keys' are collected, up to a limit.
package merge
