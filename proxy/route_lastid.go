package proxy

// LAST_INSERT_ID() is of the session, whichever leg ran the INSERT. The leg that
// changed it last is its owner; another one gets it when it is used, and sets it
// before a statement that may look (session.before).

// lastIDLeg gives the owner.
func (r *router) lastIDLeg() *executor {
	if r.idLeg == nil {
		return r.s.executor
	}
	return r.idLeg
}

// bringLastID has a leg know the session's LAST_INSERT_ID().
func (r *router) bringLastID(leg *executor) error {
	owner := r.lastIDLeg()
	if owner == leg {
		return nil
	}
	id, err := r.knownLastID(owner)
	if err != nil {
		return err
	}
	if !leg.state.lastIDKnown || leg.state.lastID != id {
		leg.state.lastID, leg.state.lastIDKnown, leg.state.restore = id, true, true
	}
	return nil
}

// knownLastID gives LAST_INSERT_ID() as its owner has it.
func (r *router) knownLastID(owner *executor) (uint64, error) {
	switch {
	case owner.state.lastIDKnown:
		return owner.state.lastID, nil
	case owner.legEnded():
		return 0, errLegEnded // another connection has another one
	}
	err := owner.knowLastID()
	return owner.state.lastID, err
}

// ownsLastID makes a leg the owner if a statement on it has changed, or may have
// changed, LAST_INSERT_ID() from what it was before.
func (r *router) ownsLastID(leg *executor, before uint64) {
	if !leg.state.lastIDKnown || leg.state.lastID != before {
		r.idLeg = leg
	}
}
