package sequence

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// stripeMap is what this process knows of where the stripes of one sequence are, and of its own.
type stripeMap struct {
	mu     sync.Mutex
	listed map[*stripeServer]map[int]row // the stripes of each server that was asked, as they were then
	home   int                           // the stripe that gave the latest block; 0 before the first
}

// place is a stripe where it was last seen.
type place struct {
	server *stripeServer
	stripe int
	row    row
}

// knownCache returns the cache for a [Request]: not 0, which would have a store look for another comment than there is.
func (p place) knownCache() int64 { return max(1, p.row.cache) }

// forget has all servers asked again. The home stays: a stripe that moved is followed.
func (m *stripeMap) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.listed)
}

// note takes in what a server answered.
func (m *stripeMap) note(server *stripeServer, rows []stripeRow) {
	stripes := map[int]row{}
	for _, r := range rows {
		if r.id > 0 {
			stripes[r.id] = r.row
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed[server] = stripes
}

// unlisted returns those of the servers that were not asked yet.
func (m *stripeMap) unlisted(servers []*stripeServer) (unknown []*stripeServer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, server := range servers {
		if m.listed[server] == nil {
			unknown = append(unknown, server)
		}
	}
	return unknown
}

// place returns where a stripe is; false when that is not known.
func (m *stripeMap) place(stripe int) (place, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for server, stripes := range m.listed {
		if r, ok := stripes[stripe]; ok {
			return place{server, stripe, r}, true
		}
	}
	return place{}, false
}

// atHome returns where the stripe is that gave the latest block.
func (m *stripeMap) atHome() (place, bool) {
	m.mu.Lock()
	home := m.home
	m.mu.Unlock()
	return m.place(home)
}

// stay makes a stripe the home.
func (m *stripeMap) stay(stripe int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.home = stripe
}

// mayServe reports whether server has stripes, or was not asked.
func (m *stripeMap) mayServe(server *stripeServer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	stripes, listed := m.listed[server]
	return !listed || len(stripes) > 0
}

// places returns the stripes of the servers in the order to try them: the home, and the others at random.
func (m *stripeMap) places(servers []*stripeServer) (found []place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, server := range servers {
		for stripe, r := range m.listed[server] {
			found = append(found, place{server, stripe, r})
		}
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	if i := slices.IndexFunc(found, func(p place) bool { return p.stripe == m.home }); i > 0 {
		found[0], found[i] = found[i], found[0]
	}
	return found
}

// all returns every stripe that is known.
func (m *stripeMap) all() (found []place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for server, stripes := range m.listed {
		for stripe, r := range stripes {
			found = append(found, place{server, stripe, r})
		}
	}
	return found
}

// twice returns an error when two of the places are of the same stripe.
func (q Request) twice(places []place) error {
	owner := map[int]string{}
	for _, at := range places {
		if other := owner[at.stripe]; other != "" {
			return q.problem(ErrStripes, nil, "has stripe %d on two servers, %s and %s, which would give the same ids;"+
				" delete the row that was copied there by hand, or both: then the ids of the stripe are not used any more", at.stripe, other, at.server.name)
		}
		owner[at.stripe] = at.server.name
	}
	return nil
}
