package proxy

import "github.com/seqgate/seqgate/proxy/variables"

// reset is COM_RESET_CONNECTION: the session begins anew, in the same keyspace.
func (r *router) reset() error {
	r.beginAnew()
	return r.s.resetConnection()
}

// changeUser is COM_CHANGE_USER: another login, with nothing left of the former one.
func (r *router) changeUser() error {
	r.beginAnew()
	return r.s.changeUser()
}

// beginAnew forgets all that the client has made of its session.
func (r *router) beginAnew() {
	r.rollbackOn(r.involved()) // done when the client is told
	if err := r.dropConns(); err != nil {
		r.s.log.Debug("a shard's connection did not end in order", "err", err) // and is of no use any more
	}
	r.tx, r.settings, r.next = transaction{}, variables.Settings{}, nil
	r.prepared.drop()
	r.s.Applied, r.s.Preceded, r.s.locked = 0, false, false
}
