// Package generate makes the ids of the vschema's generators: the numbers of a snowflake, UUIDs and ObjectIDs. Generators
// that take segments of a counter (redis, leaf, tinyid) are sequences: see package sequence.
package generate
