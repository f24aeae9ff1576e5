package generators

import (
	"fmt"
	"math"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/redis/go-redis/v9"

	seqredis "github.com/seqgate/seqgate/sequence/redis"
	"github.com/seqgate/seqgate/vschema"
)

// DatePrefix returns what the ids of a Redis counter begin with.
func DatePrefix(p *vschema.SegmentParams) seqredis.Prefix {
	layout := map[string]string{"day": seqredis.Day, "hour": seqredis.Hour}[p.TimePrefix]
	return seqredis.Prefix{Layout: layout, Digits: int(p.Digits)}
}

// FitsSkip returns why the guard of ids with a date could not go on after a failover: it skips within a day or an hour.
func FitsSkip(p *vschema.SegmentParams, guard config.SequenceOverride) error {
	if p.TimePrefix == "" || float64(guard.FailoverSkip) < math.Pow10(int(p.Digits)) {
		return nil
	}
	return fmt.Errorf("failover_skip of its guard %s.%s is %d, more than one %s has with %d digits: take more digits, or a smaller failover_skip in sequences.overrides",
		p.GuardKeyspace, p.GuardTable, guard.FailoverSkip, p.TimePrefix, p.Digits)
}

// OpenCounter prepares the connection to a counter of Redis.
func OpenCounter(p *vschema.SegmentParams) (*redis.Client, error) {
	options, err := config.RedisOptions(p)
	if err != nil {
		return nil, err
	}
	options.MaxRetries = -1 // an attempt is made again by the sequence
	return redis.NewClient(options), nil
}
