package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/handshake"
	"github.com/seqgate/seqgate/proxy/socket"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/vschema"
)

// databaseFor returns the server's name of what a client calls a database: a
// keyspace's name stands for its database, any other is the server's own.
func (s *keyspaces) databaseFor(k *catalog.Keyspace, name string) (string, error) {
	if name == k.Name || name == k.String() {
		return k.Database, nil
	}
	other := s.cfg.Keyspaces[name]
	if other == nil {
		if other, _ = s.targeted(name); other == nil {
			return name, nil
		}
	}
	if other.Backend.Addr != k.Backend.Addr || other.Shards != nil {
		return "", elsewhere(k.Name, name)
	}
	return other.Database, nil
}

// elsewhere refuses a change to a keyspace that is on another server.
func elsewhere(from, to string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
		"seqgate does not yet support changing from keyspace '%s' to '%s', which is on another server, within a session; connect again with '%s' as the database",
		from, to, to))
}

// keyspaceFor returns the keyspace and the server's database for the database
// that a client named at connect.
func (s *keyspaces) keyspaceFor(name string) (*catalog.Keyspace, string) {
	if k := s.cfg.Keyspaces[name]; k != nil {
		return k, k.Database
	}
	if k, ok := s.targeted(name); ok {
		return k, k.Database
	}
	k := s.cfg.Keyspaces[s.cfg.Default]
	if name == "" {
		return k, k.Database
	}
	return k, name
}

// targeted returns the shard that a client names as keyspace:shard or keyspace/shard
// (Vitess's names for it): it is alone with that one, as if there were no seqgate.
func (s *keyspaces) targeted(name string) (*catalog.Keyspace, bool) {
	i := strings.LastIndexAny(name, ":/")
	if i < 0 {
		return nil, false
	}
	k := s.cfg.Keyspaces[name[:i]]
	if k == nil {
		return nil, false
	}
	for _, shard := range k.Shards {
		if shard.Shard == name[i+1:] {
			return shard, true
		}
	}
	return nil, false
}

// sharded reports whether any keyspace is.
func (s *keyspaces) sharded() bool {
	for _, k := range s.cfg.Keyspaces {
		if k.Shards != nil {
			return true
		}
	}
	return false
}

// placeFor is keyspaceFor, and gives the current keyspace of a client that is to be
// routed: each one in front of sharded keyspaces that does not name one shard. Where
// the default keyspace is sharded, other names are refused: its shards have other
// databases for themselves only.
func (s *keyspaces) placeFor(name string) (at, whole *catalog.Keyspace, database string, err error) {
	at, database = s.keyspaceFor(name)
	if _, alone := s.targeted(name); alone || !s.sharded() {
		return at, nil, database, nil
	}
	if at.Shards != nil && database != at.Database {
		return nil, nil, "", mysql.NewDefaultError(mysql.ER_BAD_DB_ERROR, name)
	}
	return at.EachShard()[0], at, database, nil
}

// keyspaces is what a Server serves: keyspaces by the names that clients give them, with their tables, generators and
// connections.
type keyspaces struct {
	cfg           Config
	changed       atomic.Pointer[Config] // with the settings of now; nil until they are changed
	catalog       *catalog.Cache
	ownGenerators *generate.Set // nil when Config has one
	takers        takers
	clusters      clusters
	pauses        pauses

	log     *slog.Logger
	hangups *socket.Watcher
	// pools are the backends' connections, by unsharded keyspace or shard; none without a list of users.
	pools    map[*catalog.Keyspace]*backend.Pool
	accounts accountPools

	explicit explicitWarnings
	taken    explicitWarnings // of ids in memory that were in the table
	looked   explicitWarnings // how often tables are looked through for those

	queryNames string // see newQueryNames

	ctx    context.Context // of all sessions
	cancel context.CancelFunc
}

// keyspaceOf returns the keyspace whose server failed a login, nil when none did.
func (s *keyspaces) keyspaceOf(err error) *catalog.Keyspace {
	var connect *backend.ConnectError
	var lost *backend.LostError
	switch {
	case errors.As(err, &connect):
		for _, k := range s.cfg.Keyspaces {
			for _, shard := range k.EachShard() {
				if shard.Backend.Addr == connect.Addr {
					return shard
				}
			}
		}
	case errors.As(err, &lost):
		return s.cfg.Keyspaces[s.cfg.Default] // that logs clients in
	}
	return nil
}

// loaded returns what a statement that begins now goes by, to its end.
func (s *keyspaces) loaded() *catalog.Loaded { return s.catalog.Loaded() }

// settings returns the configuration with the settings of now.
func (s *keyspaces) settings() *Config {
	if cfg := s.changed.Load(); cfg != nil {
		return cfg
	}
	return &s.cfg
}

// statementLimit returns how many bytes of a statement are read for a server to
// judge: it refuses more than its max_allowed_packet, with an error that clients
// shall see from itself, so there is room for that.
func (s *keyspaces) statementLimit(ctx context.Context, k *catalog.Keyspace) int {
	const usual = 64 << 20 // MySQL's default
	ctx, cancel := context.WithTimeout(ctx, catalog.Timeout)
	defer cancel()
	allowed := usual
	if err := k.DB.QueryRowContext(ctx, "SELECT @@GLOBAL.max_allowed_packet").Scan(&allowed); err != nil {
		s.log.Warn("max_allowed_packet not known", "keyspace", k.Name, "err", err)
	}
	return min(2*allowed, backend.MaxStatement) + wire.MaxPayload
}

// connect returns a connection to a keyspace's server, which must have all that the
// client was told of by that of the default keyspace. It waits while the shard is paused. Errors: *backend.ConnectError,
// and *mysql.MyError for the client.
func (s *keyspaces) connect(ctx context.Context, k *catalog.Keyspace, login backend.Login) (*backend.Conn, error) {
	if err := s.awaitResume(ctx, k, time.Now()); err != nil {
		return nil, err
	}
	c, err := s.pools[k].Get(ctx, login)
	if err != nil {
		return nil, s.ownLogin(err, login)
	}
	const others = perHop | handshake.LongPassword | handshake.PluginAuth | handshake.ConnectWithDB
	if lacks := login.Capabilities &^ c.Capabilities &^ others; lacks != 0 {
		return nil, errors.Join(lacking(k.Name, s.cfg.Default, lacks), c.Quit())
	}
	return c, nil
}

// vschemaKeyspaces returns all keyspaces, also those that the vschema does not name.
// Foreign keys are always left to the servers ("unmanaged"): another
// foreign_key_mode is not loaded, and neither is a vschema with an error for Comment.
func (s *keyspaces) vschemaKeyspaces(v *vschema.VSchema) shown {
	result := shown{columns: vschemaColumns("Keyspace", "Sharded", "Foreign Key", "Comment")}
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Keyspaces)) {
		k, ok := v.Keyspace(name)
		result.rows = append(result.rows, []string{name, strconv.FormatBool(ok && k.Sharded), "unmanaged", ""})
	}
	return result
}

// ownLogin returns what a client is told when seqgate itself could not log in at the
// server: not of whose account it is, nor from which host.
func (s *keyspaces) ownLogin(err error, login backend.Login) error {
	var refused *mysql.MyError
	if !errors.As(err, &refused) {
		return err
	}
	told := ownRefused()
	switch {
	case refused.Code == mysql.ER_DBACCESS_DENIED_ERROR:
		told = mysql.NewError(refused.Code, "Access denied to database '"+login.Database+"': seqgate's own account at the server has no right to it")
	case !refusesAccount(refused.Code):
		return err
	}
	s.log.Error("a server refuses the account of its DSN, or of a user", "account", login.User, "err", err)
	return told
}
