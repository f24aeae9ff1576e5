package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	seqredis "github.com/seqgate/seqgate/sequence/redis"
	"github.com/seqgate/seqgate/vschema"
)

// datePrefix gives what the ids of a Redis counter begin with.
func datePrefix(p *vschema.SegmentParams) seqredis.Prefix {
	layout := map[string]string{"day": seqredis.Day, "hour": seqredis.Hour}[p.TimePrefix]
	return seqredis.Prefix{Layout: layout, Digits: int(p.Digits)}
}

// fitsSkip returns why the guard of ids with a date could not go on after a failover: it skips within a day or an hour.
func fitsSkip(p *vschema.SegmentParams, guard SequenceOverride) error {
	if p.TimePrefix == "" || float64(guard.FailoverSkip) < math.Pow10(int(p.Digits)) {
		return nil
	}
	return fmt.Errorf("failover_skip of its guard %s.%s is %d, more than one %s has with %d digits: take more digits, or a smaller failover_skip in sequences.overrides",
		p.GuardKeyspace, p.GuardTable, guard.FailoverSkip, p.TimePrefix, p.Digits)
}

// errRedisURL stands for what Redis's client says of a URL: that quotes it, with the password.
var errRedisURL = errors.New("it is no URL of a Redis: write redis://user:password@host:port/number, and what is not a letter or digit in the password as %2F and so on")

// parseRedisURL reads a URL. The error never holds any of it.
func parseRedisURL(url string) (*redis.Options, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, errRedisURL
	}
	return options, nil
}

// redisOptions reads the URL of a counter.
func redisOptions(p *vschema.SegmentParams) (*redis.Options, error) {
	if p.URLEnv == "" {
		options, err := parseRedisURL(p.URL)
		if err != nil {
			return nil, fmt.Errorf("url of Redis: %w", err)
		}
		return options, nil
	}
	url := os.Getenv(p.URLEnv)
	if url == "" {
		return nil, fmt.Errorf("environment variable %s of Redis is not set: set it to redis://user:password@host:port/number", p.URLEnv)
	}
	options, err := parseRedisURL(url)
	if err != nil {
		return nil, fmt.Errorf("environment variable %s of Redis: %w", p.URLEnv, err)
	}
	return options, nil
}

// openCounter prepares the connection to a counter of Redis.
func openCounter(p *vschema.SegmentParams) (*redis.Client, error) {
	options, err := redisOptions(p)
	if err != nil {
		return nil, err
	}
	options.MaxRetries = -1 // an attempt is made again by the sequence
	return redis.NewClient(options), nil
}

// checkRedisURL tells of a URL that cannot be read. One whose environment variable is not set is none yet: commands that
// need no Redis read the vschema without it. See checkCounters.
func checkRedisURL(p *vschema.SegmentParams) []*vschema.ParamError {
	if p.URLEnv != "" && os.Getenv(p.URLEnv) == "" {
		return nil
	}
	param := "url"
	if p.URLEnv != "" {
		param = "url_env"
	}
	if _, err := redisOptions(p); err != nil {
		return []*vschema.ParamError{{Param: param, Message: err.Error()}}
	}
	return nil
}

// checkCounters tells which counters of Redis have no URL. The error is a vschema.Errors, without a file.
func checkCounters(v *vschema.VSchema) error {
	if v == nil {
		return nil
	}
	var errs vschema.Errors
	for _, k := range v.Keyspaces() {
		for _, g := range k.Generators() {
			if g.Type != vschema.Redis {
				continue
			}
			if _, err := redisOptions(g.Segments); err != nil {
				errs = append(errs, vschema.Error{Path: "keyspaces." + k.Name + ".generators." + g.Name, Message: err.Error()})
			}
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// redisServer names the database in which a counter is, alike for all URLs that are known to lead there; empty when it is
// not known.
func redisServer(p *vschema.SegmentParams) string {
	options, err := redisOptions(p)
	if err != nil {
		return ""
	}
	database := "/" + strconv.Itoa(options.DB)
	host, port, err := net.SplitHostPort(options.Addr)
	if options.Network == "unix" || err != nil {
		return options.Addr + database
	}
	host = strings.ToLower(host)
	if ip := net.ParseIP(host); ip != nil {
		host = ip.String()
		if ip.IsLoopback() {
			host = "localhost"
		}
	}
	return net.JoinHostPort(host, port) + database
}
