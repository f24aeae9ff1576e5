package route

import (
	"errors"
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/vschema"
)

// A Planner plans statements over one vschema. Any number of goroutines may use it.
type Planner struct {
	vschema *vschema.VSchema
	shards  map[string]*vschema.Shards // of each sharded keyspace
	types   ColumnTypes                // nil: columns of which the vschema has no type are text
	cache   *cache
}

// New returns the planner of a vschema, with the shards of each of its sharded keyspaces. types, which may be nil, tells
// the types of vindex columns of which the vschema does not.
func New(v *vschema.VSchema, shards map[string]*vschema.Shards, types ColumnTypes) *Planner {
	return &Planner{vschema: v, shards: shards, types: types, cache: newCache(maxCached)}
}

// Forget drops the plans that are kept: tables may have other columns now.
func (p *Planner) Forget() { p.cache.clear() }

// ForgetTypes drops the plans that were made by what the servers told of columns.
func (p *Planner) ForgetTypes() { p.cache.drop(func(plan *Plan) bool { return plan.askedTypes }) }

// Plan says what becomes of sql, one statement of a session with the mode m, when keyspace is the current one, "" when
// there is none. Version comments have to be resolved before (parser.ResolveVersions). Its error is an *Error, for the
// client.
func (p *Planner) Plan(sql []byte, keyspace string, m parser.Mode) (*Plan, error) {
	return p.PlanIn(nil, sql, keyspace, m)
}

// Room is memory for one plan, which a session has for the statement under way.
type Room struct {
	plan   Plan
	values [cachedValues]vschema.Value
}

// PlanIn is Plan with a plan that holds until the room is used again.
func (p *Planner) PlanIn(room *Room, sql []byte, keyspace string, m parser.Mode) (*Plan, error) {
	var forKey keyRoom
	key := p.cache.key(&forKey, sql, keyspace, m)
	if plan := p.cache.get(key.bytes); plan != nil {
		if plan = plan.withValues(room, key.literals, sql, m); plan != nil {
			return plan, nil
		}
	}
	return p.planOwn(key, sql, keyspace, m)
}

// planOwn returns the plan of a text for which there is none but for its literals.
func (p *Planner) planOwn(key cacheKey, sql []byte, keyspace string, m parser.Mode) (*Plan, error) {
	var room ownRoom
	own := p.cache.ownKey(&room, sql, keyspace, m)
	if plan := p.cache.get(own); plan != nil {
		return plan, nil
	}
	epoch := p.cache.now()
	plan, err := p.PlanAnew(sql, keyspace, m)
	switch {
	case err != nil:
		return nil, err
	case plan.untyped: // the next one may know more
	case plan.anyText():
		p.cache.put(epoch, key.bytes, plan)
	default:
		p.cache.put(epoch, own, plan)
	}
	return plan, nil
}

// PlanAnew is Plan without the cache of plans.
func (p *Planner) PlanAnew(sql []byte, keyspace string, m parser.Mode) (*Plan, error) {
	return p.planByNumbers(sql, keyspace, m, nil)
}

// PlanByNumbers is PlanAnew for a SELECT whose sort keys with these numbers are compared by their number, as the merge of
// its answers has asked for (merge.NumberError).
// The plan is kept for this text, which needs no second try then.
func (p *Planner) PlanByNumbers(sql []byte, keyspace string, m parser.Mode, numbers []int) (*Plan, error) {
	epoch := p.cache.now()
	plan, err := p.planByNumbers(sql, keyspace, m, numbers)
	if err == nil && !plan.untyped {
		var room ownRoom
		p.cache.put(epoch, p.cache.ownKey(&room, sql, keyspace, m), plan)
	}
	return plan, err
}

func (p *Planner) planByNumbers(sql []byte, keyspace string, m parser.Mode, numbers []int) (*Plan, error) {
	r, err := parser.ReadRoute(sql, m)
	if err != nil {
		var unreadable *parser.UnreadableError
		if !errors.As(err, &unreadable) {
			return nil, errorf(errUnknown, "%s", err)
		}
		return p.unread(sql, keyspace, m, unreadable)
	}
	s := &statement{planner: p, sql: sql, mode: m, current: keyspace, numbers: numbers, Route: r}
	plan, err := s.plan()
	if err != nil {
		return nil, err
	}
	plan.edits, plan.ownText, plan.untyped, plan.askedTypes = s.edits(), s.inexact, s.untyped, len(s.types) > 0
	return plan, nil
}

// statement is one statement while it is planned.
type statement struct {
	*parser.Route
	planner *Planner
	sql     []byte
	mode    parser.Mode
	current string // keyspace
	numbers []int  // of parser.ScatterOptions
	tables  []table

	values []vschema.Value
	slots  []literalSlot
	places map[literalSlot]int // of slots
	facts  map[column][]fact

	types   map[column]columnType // that were asked for
	untyped bool                  // one of them could not be said
	inexact bool                  // a literal binds nothing for its value: that of another text may
}

// table is what a name of the statement stands for.
type table struct {
	keyspace string
	sharded  bool
	system   bool           // of the server's own databases
	model    *vschema.Table // nil when the vschema does not name it
	primary  *vschema.ColumnVindex
}

// reference says whether all shards have the same rows of the table.
func (t *table) reference() bool {
	return t.sharded && t.model != nil && t.model.Type == vschema.Reference
}

// divided says whether the rows of the table are divided among shards.
func (t *table) divided() bool { return t.sharded && !t.reference() }

// plan decides by what the statement is and where its tables are.
func (s *statement) plan() (*Plan, error) {
	if err := s.resolve(); err != nil {
		return nil, err
	}
	if s.Kind == parser.RouteShow && s.Database != "" {
		if plan, err := s.planShowOf(s.Database); plan != nil || err != nil {
			return plan, err
		}
	}
	if plan := s.planInsert(); plan != nil {
		return plan, nil
	}
	keyspace, sharded, some, err := s.keyspace()
	switch {
	case err != nil:
		return nil, err
	case !some:
		return s.planWithoutTables()
	case !sharded:
		return s.newPlan(Unsharded, keyspace), nil
	}
	return s.planSharded(keyspace)
}

// planInsert plans an INSERT that has to do with a sharded keyspace, by the keyspace that it writes to; nil for others.
func (s *statement) planInsert() *Plan {
	if s.Kind != parser.RouteInsert || !slices.ContainsFunc(s.tables, func(t table) bool { return t.sharded }) {
		return nil
	}
	kind := Insert
	if s.Explain {
		kind = Any
	}
	return s.newPlan(kind, s.tables[s.Targets[0]].keyspace)
}

// newPlan begins a plan with what the statement itself says.
func (s *statement) newPlan(kind Kind, keyspace string) *Plan {
	p := &Plan{
		Kind: kind, Keyspace: keyspace, Explain: s.Explain, Locks: s.Locks && !s.Explain,
		Select:    s.Kind == parser.RouteSelect || s.Kind == parser.RouteShow || s.Explain,
		Functions: s.Functions, Reads: s.Reads, Assigns: s.Assigns, shards: s.planner.shards[keyspace],
	}
	p.Write = !p.Select && s.Kind != parser.RouteMaintain
	switch {
	case len(s.Targets) > 0:
		p.Table = s.Tables[s.Targets[0]].Name
	case len(s.Tables) > 0:
		p.Table = s.Tables[0].Name
	}
	return p
}

// keyspace returns the one keyspace that the statement's tables are in.
func (s *statement) keyspace() (name string, sharded, some bool, err error) {
	system := false
	for i := range s.tables {
		t := &s.tables[i]
		switch {
		case t.system:
			system = true
		case some && t.keyspace != name:
			return "", false, false, refuse("one statement with tables of the keyspaces "+name+" and "+t.keyspace,
				"ask for them one after the other")
		default:
			name, sharded, some = t.keyspace, t.sharded, true
		}
	}
	if system && sharded {
		return "", false, false, refuse("one statement with tables of the sharded keyspace "+name+" and of the server's own databases",
			"ask for them one after the other")
	}
	return name, sharded, some, nil
}

// planWithoutTables plans a statement that names no table, or only those of the server's own databases.
func (s *statement) planWithoutTables() (*Plan, error) {
	_, sharded := s.planner.keyspace(s.current)
	switch {
	case s.Kind == parser.RouteShow && s.showsDatabase():
		if s.current == "" {
			return nil, errorf(errNoDatabase, "No database selected")
		}
		if sharded {
			return s.newPlan(Any, s.current), nil
		}
		return s.newPlan(Unsharded, s.current), nil
	case s.Kind == parser.RouteSelect && sharded && s.Into:
		return nil, refuse("SELECT ... INTO in the sharded keyspace "+s.current, "read the rows and store them with a second statement")
	case s.Kind == parser.RouteSelect, s.Kind == parser.RouteShow:
		if s.current != "" && !sharded {
			return s.newPlan(Unsharded, s.current), nil
		}
		return s.newPlan(Local, ""), nil
	case s.Name == "UNLOCK TABLES" && sharded:
		return s.newPlan(Local, ""), nil
	case s.current == "":
		return nil, errorf(errNoDatabase, "No database selected: seqgate sends %s to the server of a keyspace; choose one with USE", s.Name)
	case sharded:
		return nil, s.refuseSharded(s.current)
	}
	return s.newPlan(Unsharded, s.current), nil
}

// showsDatabase reports whether the SHOW is about the current database.
func (s *statement) showsDatabase() bool {
	switch s.Name {
	case "SHOW TABLES", "SHOW FULL", "SHOW EXTENDED", "SHOW TABLE", "SHOW OPEN", "SHOW TRIGGERS", "SHOW EVENTS":
		return s.Name != "SHOW FULL" || !parser.ContainsWord(s.sql, "processlist")
	}
	return false
}

// planShowOf plans SHOW ... FROM database; nil when the database is none of a keyspace's.
func (s *statement) planShowOf(database string) (*Plan, error) {
	k, sharded := s.planner.keyspace(database)
	switch {
	case isSystem(database):
		return s.planWithoutTables()
	case sharded:
		return s.newPlan(Any, k.Name), nil
	case k != nil:
		return s.newPlan(Unsharded, k.Name), nil
	}
	if _, sharded := s.planner.keyspace(s.current); sharded || s.current == "" {
		return nil, errorf(errUnknownDatabase, "Unknown database '%s': seqgate has no keyspace of this name", database)
	}
	return s.newPlan(Unsharded, s.current), nil
}

// keyspace returns the keyspace of that name, nil when the vschema has none, which is an unsharded one.
func (p *Planner) keyspace(name string) (k *vschema.Keyspace, sharded bool) {
	k, ok := p.vschema.Keyspace(name)
	if !ok {
		return nil, false
	}
	return k, k.Sharded
}

// edits returns the names of the text that stand for keyspaces, in the order of the text.
func (s *statement) edits() []parser.RouteQualifier {
	var edits []parser.RouteQualifier
	for _, q := range s.Qualifiers {
		if k, _ := s.planner.keyspace(q.Schema); k != nil {
			edits = append(edits, q)
		}
	}
	return edits
}
