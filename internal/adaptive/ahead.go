package adaptive

import "time"

// When a sequence turns warm, and its blocks are fetched ahead and adapted.
const (
	coldRefills = 8
	coldTime    = 10 * time.Second
)

// IsWarm reports whether a sequence turns warm that was refilled so often, and got its first block so long ago. Package
// sequence knows one reason more: several callers who wait at the same time.
func IsWarm(refills int64, since time.Duration) bool {
	return refills >= coldRefills || refills > 0 && since >= coldTime
}

// LowWater is how many ids are left when the next block is fetched at the latest: all but share of the latest block.
func LowWater(block int64, share float64) int64 {
	return block - int64(float64(block)*share)
}

// looks: a segment is looked at again, whether it is time to fetch the next one, each time 1/looks of it is used.
const looks = 10

// NextLook returns how many ids of a segment of that size, of which used are gone, are gone at the next look: where its
// next part is used, or where gone ids are if that is nearer.
func NextLook(size, used, gone int64) int64 {
	return min(gone, used+max(1, size/looks))
}

// Pause is the longest time to wait after so many failures in a row, from 1: 10 ms doubled each time up to 250 ms. It is
// short because the database is to be used as soon as it is back. Who waits leaves out up to half of it at random.
func Pause(failures int) time.Duration {
	return min(10*time.Millisecond<<min(failures-1, 10), 250*time.Millisecond)
}
