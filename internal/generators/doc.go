// Package generators opens what the configuration names for ids without a sequence: where worker ids are leased (the table,
// and with the build tags etcd and zookeeper those), and counters of Redis.
package generators
