package proxy

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// account returns the account with which a listed user's sessions run at a keyspace's server, by the settings of now. A
// user who is not listed any more gets no further connection.
func (s *keyspaces) account(k *catalog.Keyspace, user string) (catalog.Account, error) {
	users := s.settings().Users
	i := slices.IndexFunc(users, func(u User) bool { return u.Name == user })
	switch {
	case i < 0:
		return catalog.Account{}, mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR, fmt.Sprintf("Access denied for user '%s': seqgate's configuration has no such user any more", user))
	case users[i].Account != nil:
		return *users[i].Account, nil
	}
	return k.Own(), nil
}

// asking returns connections over which a server can be asked of the threads of an account, or to end them: those of the
// account, which needs no privilege for its own. nil is a client's own account, of which seqgate has no password.
func (s *keyspaces) asking(k *catalog.Keyspace, a *catalog.Account) (*sql.DB, error) {
	if a == nil || *a == k.Own() || k.OpenAs == nil {
		return k.DB, nil
	}
	current := *a
	for _, u := range s.settings().Users {
		if u.Account != nil && u.Account.User == a.User {
			current = *u.Account // its password may have been changed since
		}
	}
	return s.accounts.open(k, current)
}

// accountPools are connections for Server.asking, of the accounts of listed users.
type accountPools struct {
	mu     sync.Mutex
	pools  map[accountPool]*sql.DB
	closed bool
}

type accountPool struct {
	keyspace *catalog.Keyspace
	account  catalog.Account
}

func (p *accountPools) open(k *catalog.Keyspace, a catalog.Account) (*sql.DB, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := accountPool{k, a}
	if db := p.pools[key]; db != nil || p.closed {
		return db, errIfClosed(p.closed)
	}
	db, err := k.OpenAs(a)
	if err == nil {
		if p.pools == nil {
			p.pools = make(map[accountPool]*sql.DB)
		}
		p.pools[key] = db
	}
	return db, err
}

func errIfClosed(closed bool) error {
	if closed {
		return sql.ErrConnDone
	}
	return nil
}

// keep closes the pools of accounts that no user has any more; all when users is nil, for good.
func (p *accountPools) keep(users []User) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = p.closed || users == nil
	var errs []error
	for key, db := range p.pools {
		if !slices.ContainsFunc(users, func(u User) bool { return u.Account != nil && *u.Account == key.account }) {
			delete(p.pools, key)
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
