package proxy

// EndedConns counts the sessions' connections to a shard that have ended under a command.
func (s *Server) EndedConns(name string) (ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := func(x *executor) {
		if x.keyspace.String() == name && x.Ends.BackEnded.Load() {
			ended++
		}
	}
	for _, session := range s.sessions {
		switch {
		case session == nil, !session.busy.Load(): // it logs in, or is idle
		case session.router == nil:
			count(session.executor)
		default:
			session.router.conns.others(nil, count)
		}
	}
	return ended
}
