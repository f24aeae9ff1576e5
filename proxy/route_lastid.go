package proxy

// LAST_INSERT_ID() is of the session, whichever connection ran the INSERT. The connection that
// changed it last is its owner; another one gets it when it is used, and sets it
// before a statement that may look (session.before).

// lastIDConn gives the owner.
func (r *router) lastIDConn() *executor {
	if r.idConn == nil {
		return r.s.executor
	}
	return r.idConn
}

// syncLastInsertID has a connection know the session's LAST_INSERT_ID().
func (r *router) syncLastInsertID(conn *executor) error {
	owner := r.lastIDConn()
	if owner == conn {
		return nil
	}
	id, err := r.knownLastID(owner)
	if err != nil {
		return err
	}
	if !conn.state.lastIDKnown || conn.state.lastID != id {
		conn.state.lastID, conn.state.lastIDKnown, conn.state.restore = id, true, true
	}
	return nil
}

// knownLastID gives LAST_INSERT_ID() as its owner has it.
func (r *router) knownLastID(owner *executor) (uint64, error) {
	switch {
	case owner.state.lastIDKnown:
		return owner.state.lastID, nil
	case owner.hasEnded():
		return 0, errShardLost // another connection has another one
	}
	err := owner.knowLastID()
	return owner.state.lastID, err
}

// ownsLastID makes a connection the owner if a statement on it has changed, or may have
// changed, LAST_INSERT_ID() from what it was before.
func (r *router) ownsLastID(conn *executor, before uint64) {
	if !conn.state.lastIDKnown || conn.state.lastID != before {
		r.idConn = conn
	}
}
