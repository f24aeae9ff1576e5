package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/redis/go-redis/v9"
)

// oldRedis is a Redis whose INCR and INCRBY gave ids.
type oldRedis struct{ client *redis.Client }

func openRedis(ctx context.Context, url string) (oldSystem, error) {
	options, err := config.ParseRedisURL(url)
	if err != nil {
		return nil, Usagef("--from: %w", err)
	}
	options.DialTimeout = connectTimeout
	r := oldRedis{redis.NewClient(options)}
	if err := r.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("redis at %s: %w", options.Addr, err), r.Close())
	}
	return r, nil
}

// counter reads the last value that INCR returned.
func (r oldRedis) counter(ctx context.Context, key string) (found counter, err error) {
	last, err := r.client.Get(ctx, key).Int64()
	switch {
	case errors.Is(err, redis.Nil):
		return found, errors.New("there is no such key")
	case err != nil:
		return found, err
	}
	found.next, err = above(last)
	return found, err
}

func (r oldRedis) Close() error { return r.client.Close() }
