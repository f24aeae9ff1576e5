package wiretest

// difference is a case in which seqgate does not do what the server does. It has to differ: who mends it takes it out.
type difference struct {
	name    string // theme/case
	variant string // of the login; "" for all
	server  string // "mariadb" or "mysql"; "" for both
	reason  string
}

// Why cases differ. Most have one of few reasons.
const (
	refusedByDesign = "refused on purpose"
	negativeWrapped = "a negative id of a row's own, beside open ones, stands in LAST_INSERT_ID(), which has no sign: the server refuses it"
)

// differences are the cases in which seqgate is known to differ.
var differences = []difference{
	{name: "command/SHUTDOWN without rights", reason: refusedByDesign},
	{name: "bulk/small negative", reason: negativeWrapped},
}

// knownDifference gives the reason why a case differs, "" when it must not.
func knownDifference(name, variant, server string) string {
	for _, d := range differences {
		if d.name == name && (d.variant == "" || d.variant == variant) && (d.server == "" || d.server == server) {
			return d.reason
		}
	}
	return ""
}
