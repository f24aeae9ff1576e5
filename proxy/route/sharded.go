package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/parser"
)

// planSharded plans a statement of which all tables are in one sharded keyspace.
func (s *statement) planSharded(keyspace string) (*Plan, error) {
	switch s.Kind {
	case parser.RouteSelect:
		return s.planSelect(keyspace)
	case parser.RouteUpdate, parser.RouteDelete:
		return s.planWrite(keyspace)
	case parser.RouteInsert:
		return s.newPlan(Insert, keyspace), nil
	case parser.RouteDDL, parser.RouteMaintain:
		return s.newPlan(Everywhere, keyspace), nil
	case parser.RouteShow:
		return s.newPlan(Any, keyspace), nil
	}
	return nil, s.refuseSharded(keyspace)
}

// refuseSharded is the error of a statement that no shard can be given alone.
func (s *statement) refuseSharded(keyspace string) error {
	why := s.Name + " in the sharded keyspace " + keyspace
	switch {
	case strings.HasPrefix(s.Name, "LOCK"):
		return refuse(why, "use a transaction with SELECT ... FOR UPDATE")
	case s.Name == "CREATE TABLE":
		return refuse(why+" with a SELECT", "create the table, then insert into it")
	case strings.HasSuffix(s.Name, " TEMPORARY"):
		return refuse("temporary tables in the sharded keyspace "+keyspace, "make an ordinary table in an unsharded keyspace")
	}
	return refuse(why, "connect to the database \""+keyspace+":shard\" to run it on one shard")
}

func (s *statement) planSelect(keyspace string) (*Plan, error) {
	if s.Into {
		return nil, refuse("SELECT ... INTO in the sharded keyspace "+keyspace, "read the rows and store them with a second statement")
	}
	p := s.newPlan(Any, keyspace)
	if err := s.bindAll(p); err != nil {
		return nil, err
	}
	if p.Explain {
		return p.explained(), nil
	}
	if p.Kind == Any && p.Locks {
		p.Kind = One // the first shard, always the same one
	}
	s.mergeSelect(p)
	return p, s.mustMerge(p)
}

// explained is the plan of EXPLAIN: one of the shards says how it would answer.
func (p *Plan) explained() *Plan {
	if p.several = nil; p.Kind == Scatter {
		p.Kind = Any
	}
	return p
}

// mergeSelect says how the answers merge, where there can be several.
func (s *statement) mergeSelect(p *Plan) {
	if p.several != nil || p.Kind != Scatter && p.Kind != Keys && !(p.Kind == One && p.hasParams()) {
		return
	}
	if p.several = s.severalReason(); p.several == nil {
		p.Scatter, p.several = s.readScatter()
	}
}

// mustMerge is the reason why the plan cannot be: it always has several shards, which cannot answer together.
func (s *statement) mustMerge(p *Plan) error {
	if p.several != nil && p.Kind == Scatter {
		return p.several
	}
	return nil
}

func (p *Plan) hasParams() bool {
	for i := range p.bindings {
		for _, row := range p.bindings[i].rows {
			if slices.ContainsFunc(row, func(s slot) bool { return s.kind == slotParam }) {
				return true
			}
		}
	}
	return false
}

// bindAll finds the shards that have all rows the statement is about: Any when it reads reference tables only.
func (s *statement) bindAll(p *Plan) error {
	s.gather()
	var divided, free []int
	several := false
	for i := range s.tables {
		if !s.tables[i].divided() {
			continue
		}
		divided = append(divided, i)
		b := s.bind(i)
		if b == nil {
			free = append(free, i)
			continue
		}
		several = several || !b.single()
		if !slices.ContainsFunc(p.bindings, func(have binding) bool { return have.same(b) }) {
			p.bindings = append(p.bindings, *b)
		}
	}
	p.values, p.slots = s.values, s.slots
	switch {
	case len(divided) == 0:
		return nil
	case len(free) == 0 && !several:
		p.Kind = One
		if len(p.bindings) > 1 || p.hasParams() {
			p.several = s.bindToRoot(p, divided)
		}
		return nil
	}
	if _, err := s.mustBeTogether(divided); err != nil {
		return err
	}
	if p.Kind = Keys; len(free) > 0 {
		p.Kind, p.bindings, p.values, p.slots = Scatter, nil, nil, nil
	}
	return nil
}

// bindToRoot leaves one of several bindings: where rows of the other tables lie beside those of a root, its shard has all
// there is, also when the values contradict each other.
func (s *statement) bindToRoot(p *Plan, divided []int) *Error {
	root, err := s.mustBeTogether(divided)
	if err == nil {
		p.bindings = []binding{*s.bind(root)}
	}
	return err
}

// key names the columns by which a table is divided, for a message.
func (s *statement) key(t int) string {
	v := s.tables[t].primary
	if v == nil {
		return "vindex column"
	}
	return strings.Join(v.Columns, ", ") + " (the vindex column of " + s.Tables[t].Name + ")"
}

// severalReason is why several shards cannot answer the statement each by itself; nil when they may.
func (s *statement) severalReason() *Error {
	way := "query by the vindex column"
	for i := range s.tables {
		if s.tables[i].divided() {
			way = "query by " + s.key(i)
			break
		}
	}
	for i := range s.tables {
		b := s.Blocks[s.Tables[i].Block]
		switch {
		case !s.tables[i].divided():
		case b.Derived:
			return refuse("a derived table or WITH clause over rows of several shards", way)
		case b.Members:
			return refuse("UNION, EXCEPT or INTERSECT over rows of several shards", way)
		}
	}
	if s.Assigns {
		return refuse("setting user variables in a statement that several shards answer", way)
	}
	for _, f := range s.Functions {
		if slices.Contains(sessionFunctions, f) {
			return refuse(fmt.Sprintf("%s() in a statement that several shards answer", strings.ToUpper(f)), way)
		}
	}
	return nil
}

// sessionFunctions tell or change what one connection has.
var sessionFunctions = []string{
	"last_insert_id", "found_rows", "row_count", "connection_id", "get_lock", "release_lock", "release_all_locks",
	"is_free_lock", "is_used_lock", "nextval", "lastval", "setval", "uuid_short", "master_pos_wait", "source_pos_wait",
}

// mustBeTogether refuses tables that are not joined by their vindex columns, and rows that would come from each shard.
// Without an error each shard answers for the rows of root that it has.
func (s *statement) mustBeTogether(divided []int) (root int, refused *Error) {
	if err := s.severalReason(); err != nil {
		return 0, err
	}
	equals := s.equalColumns()
	rooted := false
	for _, t := range divided {
		if !s.isRoot(t) {
			continue
		}
		if rooted = true; s.together(t, divided, equals) {
			return t, nil
		}
	}
	if rooted || len(divided) > 1 {
		return 0, refuse("joining rows of several shards: the tables "+s.names(divided)+" are not all joined by equality of their primary "+
			"vindex columns", "query by "+s.key(divided[0]))
	}
	return 0, refuse("rows that every shard has joined with rows of several shards", "begin the FROM clause with the table "+s.Tables[divided[0]].Name)
}

// isRoot reports whether each row of the result, or each row written, has a row of the table.
func (s *statement) isRoot(t int) bool {
	return s.tables[t].primary != nil && !s.Tables[t].Optional && s.Blocks[s.Tables[t].Block].Parent < 0
}

func (s *statement) names(tables []int) string {
	var names []string
	for _, t := range tables {
		if name := s.Tables[t].Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// together reports whether the rows of the tables that belong to a row of root are in its shard. A table's are when all
// columns of its primary vindex have to be equal to those of a table whose are, under the same vindex.
func (s *statement) together(root int, tables []int, equals []equality) bool {
	reached := map[int]bool{root: true}
	for range tables {
		for _, t := range tables {
			if !reached[t] {
				reached[t] = slices.ContainsFunc(tables, func(other int) bool { return reached[other] && s.follows(t, other, equals) })
			}
		}
	}
	return !slices.ContainsFunc(tables, func(t int) bool { return !reached[t] })
}

// follows reports whether rows of t have part in the result only when their keyspace ids are equal to that of a row of
// other.
func (s *statement) follows(t, other int, equals []equality) bool {
	v, to := s.tables[t].primary, s.tables[other].primary
	if v == nil || to == nil || v.NamedVindex != to.NamedVindex {
		return false
	}
	for i := range v.Columns {
		a, b := column{t, strings.ToLower(v.Columns[i])}, column{other, strings.ToLower(to.Columns[i])}
		if k := s.classOf(a); k != s.classOf(b) || k == classUnknown {
			return false // the text '03' is equal to the number 3, which is elsewhere
		}
		if !slices.ContainsFunc(equals, func(e equality) bool {
			return e.scope.Has(t) && (e.left == a && e.right == b || e.left == b && e.right == a)
		}) {
			return false
		}
	}
	return true
}
