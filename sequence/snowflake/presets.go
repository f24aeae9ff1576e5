package snowflake

import "time"

// Epochs of the presets, in Unix milliseconds.
const (
	epochTwitter      = 1288834974657 // 2010-11-04T01:42:54.657Z
	epochSonyflake    = 1409529600000 // 2014-09-01T00:00:00Z
	epochUIDGenerator = 1463673600000 // 2016-05-20 in Beijing
	epoch2025         = 1735689600000 // 2025-01-01T00:00:00Z
)

// Presets returns the layouts that have a name, in the order in which they are listed to a user:
//
//   - twitter: Twitter's Snowflake (IdWorker.scala in the history of twitter-archive/snowflake), its two times 5 bits of
//     data center and worker as zone and worker. The original begins each tick at 0; this one goes on.
//   - leaf: Meituan's Leaf in snowflake mode, with its random start below 100.
//   - uid_generator: the bits of Baidu's uid-generator with the epoch moved to 2025, good until July 2033. With the epoch
//     it ships with it ended on 2024-11-20 at 13:24:16 UTC. Ids of the new epoch run through the same values again: over
//     a table that has old ids, use only worker ids above MAX(ID) of its WORKER_NODE table.
//   - uid_generator_2016: uid-generator as shipped. It explains old ids; no new ones can be made by it.
//   - sonyflake: Sony's, v1 and v2's default. Its lowest bits are the worker's, so that ids of a run are 65,536 apart.
//   - js53: for clients that hold ids in a JavaScript number: 32 workers with 128 ids in a millisecond.
//   - zone_hash: zone from the hash of a data center's name ([Layout.HashZone]), worker id from a table that all of
//     them share, 9 bits of sequence: 512 ids in a millisecond.
func Presets() []Layout {
	uidGenerator := [4]Field{{Time, 28}, {Worker, 22}, {Sequence, 13}}
	return []Layout{
		{Name: "twitter", Epoch: epochTwitter, Unit: time.Millisecond,
			Fields: [4]Field{{Time, 41}, {Zone, 5}, {Worker, 5}, {Sequence, 12}}},
		{Name: "leaf", Epoch: epochTwitter, Unit: time.Millisecond,
			Fields: [4]Field{{Time, 41}, {Worker, 10}, {Sequence, 12}}, Start: Start{Random: true, Bound: 100}},
		{Name: "uid_generator", Epoch: epoch2025, Unit: time.Second, Fields: uidGenerator},
		{Name: "uid_generator_2016", Epoch: epochUIDGenerator, Unit: time.Second, Fields: uidGenerator},
		{Name: "sonyflake", Epoch: epochSonyflake, Unit: 10 * time.Millisecond,
			Fields: [4]Field{{Time, 39}, {Sequence, 8}, {Worker, 16}}},
		{Name: "js53", Epoch: epoch2025, Unit: time.Millisecond,
			Fields: [4]Field{{Time, 41}, {Worker, 5}, {Sequence, 7}}},
		{Name: "zone_hash", Epoch: epoch2025, Unit: time.Millisecond,
			Fields: [4]Field{{Time, 41}, {Zone, 4}, {Worker, 9}, {Sequence, 9}}},
	}
}

// Preset returns the layout of [Presets] with this name.
func Preset(name string) (Layout, bool) {
	for _, l := range Presets() {
		if l.Name == name {
			return l, true
		}
	}
	return Layout{}, false
}
