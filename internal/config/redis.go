package config

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/seqgate/seqgate/vschema"
)

// errRedisURL stands for what Redis's client says of a URL: that quotes it, with the password.
var errRedisURL = errors.New("it is no URL of a Redis: write redis://user:password@host:port/number, and what is not a letter or digit in the password as %2F and so on")

// ParseRedisURL reads the URL of a Redis, as redis://user:password@host:port/number. The error never holds any of it.
func ParseRedisURL(url string) (*redis.Options, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, errRedisURL
	}
	return options, nil
}

// RedisOptions reads the URL of a counter of Redis, or the environment variable that has it; one that is not set is an error.
func RedisOptions(p *vschema.SegmentParams) (*redis.Options, error) {
	if p.URLEnv == "" {
		options, err := ParseRedisURL(p.URL)
		if err != nil {
			return nil, fmt.Errorf("url of Redis: %w", err)
		}
		return options, nil
	}
	url := os.Getenv(p.URLEnv)
	if url == "" {
		return nil, fmt.Errorf("environment variable %s of Redis is not set: set it to redis://user:password@host:port/number", p.URLEnv)
	}
	options, err := ParseRedisURL(url)
	if err != nil {
		return nil, fmt.Errorf("environment variable %s of Redis: %w", p.URLEnv, err)
	}
	return options, nil
}

// checkRedisURL tells of a URL that cannot be read. One whose environment variable is not set is none yet: commands that
// need no Redis read the vschema without it. See CheckCounters.
func checkRedisURL(p *vschema.SegmentParams) []*vschema.ParamError {
	if p.URLEnv != "" && os.Getenv(p.URLEnv) == "" {
		return nil
	}
	param := "url"
	if p.URLEnv != "" {
		param = "url_env"
	}
	if _, err := RedisOptions(p); err != nil {
		return []*vschema.ParamError{{Param: param, Message: err.Error()}}
	}
	return nil
}

// CheckCounters tells which counters of Redis have no URL: commands that need no Redis read a vschema without. The error is
// a [vschema.Errors] without a file; v may be nil.
func CheckCounters(v *vschema.VSchema) error {
	if v == nil {
		return nil
	}
	var errs vschema.Errors
	for _, k := range v.Keyspaces() {
		for _, g := range k.Generators() {
			if g.Type != vschema.Redis {
				continue
			}
			if _, err := RedisOptions(g.Segments); err != nil {
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
	options, err := RedisOptions(p)
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
