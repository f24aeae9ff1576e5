package config

import (
	"crypto/sha256"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Limits bound how many connections there are at once. 0 clients is any number.
type Limits struct {
	Connections int // in all
	PerUser     int // of one user, unless the user has a number of its own
	// IdleBackends is how many connections to a keyspace's server are kept for
	// clients to come; none when 0.
	IdleBackends int
}

// Timeouts end clients that keep seqgate waiting.
type Timeouts struct {
	Handshake time.Duration // from connecting to the first command
	Idle      time.Duration // between two commands; 0: the server's own wait_timeout rules
	Read      time.Duration // in the middle of a packet
	Pause     time.Duration // for a shard that is paused
	Write     time.Duration // for a client that does not take its answer
}

// ProxyProtocol is whose connections begin with a PROXY protocol header.
type ProxyProtocol struct {
	From []netip.Prefix // peers' networks; nobody's when empty
}

// userTLS are what a user's connections may be required to have.
var userTLS = []string{string(proxy.UserTLSNone), string(proxy.UserTLSAny), string(proxy.UserTLSX509)}

// requirement reads a user's TLS requirement.
func (r *reader) requirement(v value) proxy.UserTLS {
	require := proxy.UserTLS(r.oneOf(v, userTLS...))
	if require == proxy.UserTLSX509 {
		r.needClientCA = append(r.needClientCA, v)
	}
	return require
}

// limit reads a number of clients; 0 is any.
func (r *reader) limit(v value) int {
	const most = 1 << 30
	n := r.countFrom(v, 0)
	if n > most {
		r.fail(v, "%d is more than seqgate can count: write 0 for any number", n)
		return 0
	}
	return int(n)
}

// shapes reads how many shapes of statements are counted.
func (r *reader) shapes(v value) int {
	const most = 10_000
	n := r.countFrom(v, 0)
	if n > most {
		r.fail(v, "%d shapes are more than seqgate keeps: write %d or less", n, most)
		return 0
	}
	return int(n)
}

// prefixes reads a list of addresses and networks; in one line they are separated by commas.
func (r *reader) prefixes(v value) []netip.Prefix {
	var prefixes []netip.Prefix
	add := func(v value, text string) {
		if p, ok := r.prefix(v, strings.TrimSpace(text)); ok {
			prefixes = append(prefixes, p)
		}
	}
	if v.isText() {
		for text := range strings.SplitSeq(v.written(), ",") {
			add(v, text)
		}
		return prefixes
	}
	r.eachItem(v, `["10.0.0.0/8", "127.0.0.1"]`, func(v value) { add(v, r.text(v)) })
	return prefixes
}

func (r *reader) prefix(v value, text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case !v.isText(): // r.text has said so
		return netip.Prefix{}, false
	case err != nil || p.Addr().Is4In6():
		r.fail(v, "%q is no address: write one such as 10.0.0.5 or fd00::5, or a network such as 10.0.0.0/8", text)
		return netip.Prefix{}, false
	case p != p.Masked():
		r.fail(v, "%q has more than the network's bits: write %s, or %s for the one address", text, p.Masked(), p.Addr())
		return netip.Prefix{}, false
	}
	return p, true
}

func (r *reader) users(v value) []User {
	users := []User{}
	r.eachItem(v, "[{name: app, password: secret}]", func(v value) {
		u := r.user(v)
		if slices.ContainsFunc(users, func(o User) bool { return o.Name == u.Name && u.Name != "" }) {
			r.fail(v, "user %q is listed twice: remove one", u.Name)
		}
		users = append(users, u)
	})
	if v.isList() && len(users) == 0 {
		r.fail(v, "the list is empty: add a user, or remove the key to let clients log in with their own MySQL user and password")
	}
	return users
}

// rightsGone is told for a key that former versions had. Only the servers can judge what a statement may do.
const rightsGone = "rights are the servers' now: write account: {user: NAME, password_env: VARIABLE}, an account of the servers that has " +
	"the GRANTs which the user is to have (docs/security.md), and vschema_ddl: true for who may use ALTER VSCHEMA"

// authPlugins are the ways to prove a password, the default first.
var authPlugins = []string{"caching_sha2_password", "mysql_native_password"}

func (r *reader) user(v value) User {
	u := User{Plugin: authPlugins[0], Require: proxy.UserTLSNone}
	var named bool
	r.secretFields(v, &u.Password, map[string]func(value){
		"name": func(v value) {
			named = true
			if u.Name = r.text(v); u.Name == "" {
				r.fail(v, "the name is empty: write the user's name")
			}
		},
		"plugin":          func(v value) { u.Plugin = r.oneOf(v, authPlugins...) },
		"account":         func(v value) { u.Account = r.account(v) },
		"require":         func(v value) { u.Require = r.requirement(v) },
		"max_connections": func(v value) { u.MaxConnections = r.limit(v) },
		"vschema_ddl":     func(v value) { u.VSchemaDDL = r.bool(v) },
	})
	if !named && v.isMapping() {
		r.fail(v, `the key "name" is missing: write name: USER`)
	}
	return u
}

// account reads the account that seqgate uses for a user at the servers.
func (r *reader) account(v value) *catalog.Account {
	var a catalog.Account
	r.secretFields(v, &a.Password, map[string]func(value){"user": func(v value) { a.User = r.text(v) }})
	if a.User == "" && v.isMapping() {
		r.fail(v, "the user is missing: write user: NAME, an account of the servers")
	}
	return &a
}

// secretFields reads a mapping with these keys and those of a password, of which there has to be one.
func (r *reader) secretFields(v value, secret *string, fields map[string]func(value)) {
	var given []string
	password := func(kind string, read func(value) string) {
		fields[kind] = func(v value) {
			given = append(given, kind)
			*secret = read(v)
		}
	}
	password("password", r.text)
	password("password_env", r.passwordFromEnv)
	password("password_file", r.passwordFromFile)
	r.fields(v, fields)
	switch {
	case !v.isMapping():
	case len(given) == 0:
		r.fail(v, "the password is missing: write one of password, password_env, password_file")
	case len(given) > 1:
		r.fail(v, "more than one password: leave one of %s", strings.Join(given, ", "))
	}
}

func (r *reader) passwordFromEnv(v value) string {
	name := r.text(v)
	password := r.Getenv(name)
	if name != "" && password == "" {
		r.fail(v, "the environment variable %s is not set", name)
	}
	return password
}

// passwordFromFile takes the file's text without the line end that editors add.
func (r *reader) passwordFromFile(v value) string {
	return r.secretFromFile(v, `a user without a password has password: ""`)
}

// namedFile is a file that holds a secret, and whose key names it.
type namedFile struct {
	path string // of the key
	hash [sha256.Size]byte
}

// readSecret reads such a file, and remembers which it was.
func (r *reader) readSecret(v value, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	r.read = append(r.read, namedFile{v.path, sha256.Sum256(data)})
	return data, err
}

// secretFromFile is that of any secret; instead tells what to write in place of an empty file.
func (r *reader) secretFromFile(v value, instead string) string {
	path := r.filePath(v)
	if path == "" {
		return ""
	}
	data, err := r.readSecret(v, path)
	secret := strings.TrimRight(string(data), "\r\n")
	switch {
	case err != nil:
		r.fail(v, "%s: %s", path, readError(err))
	case secret == "":
		r.fail(v, "%s is empty: %s", path, instead)
	}
	return secret
}
