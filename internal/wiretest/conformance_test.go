package wiretest

import (
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// theme is a list of cases about one matter, and with which logins each is run.
type theme struct {
	name   string
	logins []variant
	cases  []wireCase
}

// variant is a usual client. A case with flags of its own is run once, with those.
type variant struct {
	name  string
	flags uint64
}

var (
	modern = variant{"modern", modernFlags}
	// classic ends results with EOF packets.
	classic = variant{"classic", classicFlags}
)

var themes = []theme{
	{"login", []variant{modern}, loginCases},
	{"command", []variant{modern}, commandCases},
	{"result", []variant{modern, classic}, resultCases},
	{"type", []variant{modern, classic}, typeCases},
	{"several", []variant{modern, classic}, severalCases},
	{"statement", []variant{modern, classic}, statementCases},
	{"infile", []variant{modern, classic}, infileCases},
	{"session", []variant{modern}, sessionCases},
	{"track", []variant{modern}, trackCases},
	{"charset", []variant{modern}, charsetCases},
	{"kill", []variant{modern}, killCases},
	{"large", []variant{modern}, largeCases},
	{"malformed", []variant{modern}, malformedCases},
	{"capability", capabilityVariants(), capabilityCases},
	{"bulk", []variant{bulky}, bulkCases},
}

// serverOptions makes room for packets of more than 16 MiB, and not for much more: what is too large is tested too. A
// file that does not come is not waited for long.
var serverOptions = []string{"--max-allowed-packet=20M", "--local-infile=1", "--performance-schema=ON", "--log-bin=bin", "--server-id=7", "--net-read-timeout=5"}

// maxAllowedPacket is what serverOptions say, in bytes.
const maxAllowedPacket = 20 << 20

// A client cannot tell seqgate from the server by any packet, but where differences says so.
func TestConformance(t *testing.T) {
	conform(t, nil, func(string, wireCase) bool { return true })
}

// Nor can it where seqgate has a list of users, once it has logged in, as the account that seqgate logs in with.
func TestConformanceOfUsers(t *testing.T) {
	conform(t, []proxy.User{{Name: "app", Password: "app"}}, func(name string, c wireCase) bool {
		theme, _, _ := strings.Cut(name, "/")
		return theme != "login" && theme != "kill" && c.login.user == "" && !c.login.noDatabase && !c.accounts
	})
}

// conform runs the cases that fit.
func conform(t *testing.T, users []proxy.User, fits func(name string, c wireCase) bool) {
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		t.Parallel() // both servers at once: many a case waits
		server := "mysql"
		if s.IsMariaDB() {
			server = "mariadb"
		}
		direct, through := s.NewDatabase(t), s.NewDatabase(t)
		makeFixtures(t, s, server, direct, through)
		admin := s.Open(t, "")
		gate := startGate(t, s, through, users)
		eachCase(func(name, variant string, c wireCase) {
			if c.only != "" && c.only != server || !fits(name, c) {
				return
			}
			t.Run(name+"/"+variant, func(t *testing.T) {
				diff := ""
				for tries := 1; ; tries++ {
					want := perform(t, s.Addr, direct, c)
					got := perform(t, gate, through, c)
					diff = compare(want, got)
					if users != nil && goesOn(diff) {
						diff = ""
					}
					for _, database := range []string{direct, through} {
						if diff == "" {
							break
						}
						if err := dropOthers(t.Context(), admin, database); err != nil {
							t.Errorf("tidy up: %v", err)
						}
					}
					if tries == 3 || c.patience == 0 || !strings.Contains(diff, noAnswer) {
						break
					}
					t.Logf("again, as a busy machine may have kept one side waiting for %v: %s", c.patience, diff)
				}
				judge(t, diff, knownDifference(name, variant, server))
			})
		})
	}, serverOptions...)
}

// goesOn reports whether seqgate, as it does with a list of users, goes on with another connection where the server has
// closed one.
func goesOn(diff string) bool { return strings.Contains(diff, "direct  closed") }

// judge fails the test when a difference is not known, and when a known one is there no more.
func judge(t *testing.T, diff, reason string) {
	t.Helper()
	switch {
	case diff != "" && reason == "":
		t.Error(diff)
	case diff != "":
		t.Logf("known (%s): %s", reason, diff)
	case reason != "":
		t.Errorf("it no longer differs: take it out of differences (%s)", reason)
	}
}

// eachCase calls f for all cases with each of their logins.
func eachCase(f func(name, variant string, c wireCase)) {
	for _, theme := range themes {
		for _, c := range theme.cases {
			name := theme.name + "/" + c.name
			if c.login.flags != 0 {
				f(name, "own", c)
				continue
			}
			for _, v := range theme.logins {
				c := c
				c.login.flags = v.flags
				f(name, v.name, c)
			}
		}
	}
}

// Names are what differences and reports go by.
func TestCasesHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	count := 0
	for _, theme := range themes {
		for _, c := range theme.cases {
			name := theme.name + "/" + c.name
			if c.name == "" || seen[name] {
				t.Errorf("%q is no name of one case alone", name)
			}
			seen[name] = true
			count++
		}
	}
	for _, d := range differences {
		if !seen[d.name] {
			t.Errorf("a difference is told of %q, which is no case", d.name)
		}
		if d.reason == "" || !slices.Contains([]string{"", "mariadb", "mysql"}, d.server) {
			t.Errorf("the difference told of %q has no reason, or an unknown server %q", d.name, d.server)
		}
	}
	if want := 150; count < want {
		t.Errorf("%d cases, want at least %d", count, want)
	}
}
