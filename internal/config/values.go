package config

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// listen reads one address or a list of them; in one line they are separated by commas.
func (r *reader) listen(v value) []string {
	var addrs []string
	add := func(v value, addr string) {
		addr = strings.TrimSpace(addr)
		if why := badListen(addr); why != "" {
			r.fail(v, "%q %s", addr, why)
		} else if slices.Contains(addrs, addr) {
			r.fail(v, "%q is listed twice: remove one", addr)
		}
		addrs = append(addrs, addr)
	}
	switch {
	case v.isText():
		for addr := range strings.SplitSeq(v.written(), ",") {
			add(v, addr)
		}
		return addrs
	case v.isList() && v.isEmpty():
		r.fail(v, "the list is empty: write at least one address, such as 127.0.0.1:3307")
	default:
		r.eachItem(v, "[127.0.0.1:3307]", func(v value) { add(v, r.text(v)) })
	}
	return addrs
}

// SetListen sets Listen to what the flag --listen gives: addresses that are separated by commas. The error is a
// [vschema.Errors], and leaves Listen as it was.
func (c *Config) SetListen(addrs string) error {
	var r reader
	list := r.listen(textValue("--listen", addrs))
	if len(r.errs) > 0 {
		return r.errs
	}
	c.Listen = list
	return nil
}

// badListen says why addr is no address to listen on, and is empty for a good one.
func badListen(addr string) string {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if !filepath.IsAbs(path) {
			return "is no socket: write unix: and an absolute path, such as unix:/run/seqgate.sock"
		}
		if len(path) > maxSocketPath {
			return fmt.Sprintf("is too long: a socket's path has at most %d bytes", maxSocketPath)
		}
		return ""
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "is no address: write host:port, such as 127.0.0.1:3307, or unix:/path"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "has no port number: write one from 0 to 65535, such as 127.0.0.1:3307"
	}
	return ""
}

// maxSocketPath is what Linux has room for in the address of a socket.
const maxSocketPath = 107

// addresses reads a list of host:port; in one line they are separated by commas.
func (r *reader) addresses(v value) (addrs []string) {
	add := func(v value, addr string) {
		addr = strings.TrimSpace(addr)
		if badListen(addr) != "" || strings.HasPrefix(addr, "unix:") {
			r.fail(v, "%q is no address: write host:port", addr)
		}
		addrs = append(addrs, addr)
	}
	if !v.isText() {
		r.eachItem(v, "[10.0.0.5:2379]", func(v value) { add(v, r.text(v)) })
		return addrs
	}
	for addr := range strings.SplitSeq(v.written(), ",") {
		add(v, addr)
	}
	return addrs
}

func (r *reader) advertise(v value) string {
	addr := r.text(v)
	host, _, _ := net.SplitHostPort(addr) // badListen says what is wrong with it
	if badListen(addr) != "" || strings.HasPrefix(addr, "unix:") || host == "" || net.ParseIP(host).IsUnspecified() {
		r.fail(v, "%q is no address that other machines can reach: write host:port, such as 10.0.0.5:3307", addr)
	}
	return addr
}

// adminListen reads an address, of a Unix socket too.
func (r *reader) adminListen(v value) string {
	addr := r.text(v)
	if why := badListen(addr); addr != "" && why != "" {
		r.fail(v, `%q is no address: write host:port, such as 127.0.0.1:3308, unix:/path, or "" for none`, addr)
	}
	return addr
}

// hostListen reads an address of the network.
func (r *reader) hostListen(v value) string {
	addr := r.text(v)
	if why := badListen(addr); addr != "" && (why != "" || strings.HasPrefix(addr, "unix:")) {
		r.fail(v, `%q is no address: write host:port, such as 127.0.0.1:3308, or "" for none`, addr)
	}
	return addr
}

func (r *reader) keyspaces(v value) []Keyspace {
	var keyspaces []Keyspace
	r.eachKey(v, func(key, v value) {
		name := key.written()
		if name == "" {
			r.fail(key, "the keyspace's name is empty: write a name")
		}
		keyspaces = append(keyspaces, r.keyspace(name, v))
	})
	if v.isMapping() && len(keyspaces) == 0 {
		r.fail(v, `no keyspace: write main: {shards: {"-": "user:password@tcp(127.0.0.1:3306)/main"}}`)
	}
	return keyspaces
}

func (r *reader) keyspace(name string, v value) Keyspace {
	k := Keyspace{Name: name}
	given := false
	r.fields(v, map[string]func(value){"shards": func(v value) {
		given = true
		given := givenShards{at: v}
		k.Shards, given.names = r.shards(v)
		r.shardsOf[name] = given
	}})
	if !given && v.isMapping() {
		r.fail(v, `the key "shards" is missing: write shards: {"-": "user:password@tcp(127.0.0.1:3306)/%s"}`, name)
	}
	return k
}

// shards returns the shards whose DSNs are right, and the names of all.
func (r *reader) shards(v value) (shards []Shard, names []string) {
	r.eachKey(v, func(key, v value) {
		name := key.written()
		names = append(names, name)
		if s, ok := r.shard(name, v); ok {
			shards = append(shards, s)
		}
	})
	if v.isMapping() && len(names) == 0 {
		r.fail(v, `no shard: write "-": "user:password@tcp(127.0.0.1:3306)/database"`)
	}
	return shards, names
}

// shard reads a DSN. No error repeats it: it has a password.
func (r *reader) shard(name string, v value) (Shard, bool) {
	const form = "write user:password@tcp(host:port)/database or user:password@unix(/path)/database"
	v, ok := r.dsnText(v)
	if !ok {
		return Shard{}, false // that is told already
	}
	if !v.isText() || v.written() == "" {
		r.fail(v, "the DSN is missing: %s", form)
		return Shard{}, false
	}
	dsn, err := mysql.ParseDSN(v.written())
	switch {
	case err != nil:
		r.fail(v, "%s: %s", dsnError(err), form)
		return Shard{}, false
	case dsn.Net != "tcp" && dsn.Net != "unix":
		r.fail(v, "the network is neither tcp nor unix: %s", form)
	case dsn.DBName == "" && !r.anyDatabase:
		r.fail(v, "the DSN names no database: write it after the last slash, user:password@tcp(host:port)/database")
	case dsn.User == "":
		r.fail(v, "the DSN names no user: %s", form)
	default:
		return Shard{Name: name, DSN: dsn}, true
	}
	return Shard{}, false
}

// dsnError is the driver's error without what it quotes of the DSN.
func dsnError(err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "default addr for network") {
		return "invalid DSN: the address does not stand in tcp( )"
	}
	if i := strings.IndexAny(text, `"'`); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

func (r *reader) logLevel(v value) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	r.cfg.Log.Level = levels[r.oneOf(v, "debug", "info", "warn", "error")]
}
