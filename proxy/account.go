package proxy

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Account is a user of the servers'. What it may do there is all that a listed user whose account it is may do.
type Account struct{ User, Password string }

// own is the account of the keyspace's DSN, with which listed users without one of their own run their statements.
func (k *Keyspace) own() Account { return Account{k.Backend.User, k.Backend.Password} }

// account gives the account with which a listed user's sessions run at a keyspace's server, by the settings of now. A
// user who is not listed any more gets no further connection.
func (s *Server) account(k *Keyspace, user string) (Account, error) {
	users := s.settings().Users
	i := slices.IndexFunc(users, func(u User) bool { return u.Name == user })
	switch {
	case i < 0:
		return Account{}, mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR, fmt.Sprintf("Access denied for user '%s': seqgate's configuration has no such user any more", user))
	case users[i].Account != nil:
		return *users[i].Account, nil
	}
	return k.own(), nil
}

// asking gives connections over which a server can be asked of the threads of an account, or to end them: those of the
// account, which needs no privilege for its own. nil is a client's own account, of which seqgate has no password.
func (s *Server) asking(k *Keyspace, a *Account) (*sql.DB, error) {
	if a == nil || *a == k.own() || k.OpenAs == nil {
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
	keyspace *Keyspace
	account  Account
}

func (p *accountPools) open(k *Keyspace, a Account) (*sql.DB, error) {
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
