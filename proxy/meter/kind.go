package meter

// Kind is what a client's command was about.
type Kind uint8

// The kinds. A text of several statements is one command.
const (
	None         Kind = iota // not counted: the command has no answer, or ends the session
	Select                   // SELECT, WITH, CALL-free reads
	InsertFilled             // INSERT, REPLACE or LOAD DATA that got ids from seqgate
	Insert                   // the same without
	Update
	Delete
	Next        // values of sequences
	Transaction // BEGIN, COMMIT, ROLLBACK and their like
	Set         // SET, USE
	Show
	DDL
	Admin   // seqgate's own statements, and KILL
	Several // a text of several statements
	Prepare // COM_STMT_PREPARE, and PREPARE as text
	Command // commands without SQL: COM_PING, COM_INIT_DB and the others
	Other
	kinds
)

var kindNames = [kinds]string{"", "select", "insert_filled", "insert", "update", "delete", "next", "transaction", "set", "show", "ddl",
	"admin", "several", "prepare", "command", "other"}

// String returns the name of k in metrics.
func (k Kind) String() string { return kindNames[k] }

// Route is where a statement of a session in front of sharded keyspaces ran.
type Route uint8

// The routes.
const (
	NoRoute Route = iota // the session has no router
	Single               // on one shard, or on an unsharded keyspace
	Scatter              // on several
	Local                // on none: seqgate answered
	routes
)

var routeNames = [routes]string{"", "single", "scatter", "local"}

// String returns the name of r in metrics.
func (r Route) String() string { return routeNames[r] }

// Refusal is why a client was not let in.
type Refusal uint8

// The refusals.
const (
	RefusedLimit   Refusal = iota // all places are taken
	RefusedUser                   // all places of the user are taken
	RefusedLogin                  // the password, the user or the host
	RefusedTLS                    // it has to be encrypted and was not
	RefusedBackend                // the server could not be reached
	RefusedHeader                 // no PROXY protocol header, or a wrong one
	RefusedLeft                   // the client left or was silent before its login ended, as bare TCP checks do
	RefusedOther
	refusals
)

var refusalNames = [refusals]string{"connection_limit", "user_limit", "access_denied", "tls_required", "backend_away", "proxy_header",
	"client_left", "other"}

// String returns the name of r in metrics.
func (r Refusal) String() string { return refusalNames[r] }
