package proxy

// PlaceWait is placeWait.
const PlaceWait = placeWait

// HalfOpen is how many clients were greeted and have their answer awaited.
func (s *Server) HalfOpen() int {
	s.halfOpen.mu.Lock()
	defer s.halfOpen.mu.Unlock()
	return s.halfOpen.waiting.Len()
}
