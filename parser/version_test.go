package parser

import (
	"bytes"
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestServerVersion(t *testing.T) {
	for greeting, want := range map[string]int{
		"9.7.4-2":                         90704,
		"8.0.36-28":                       80036,
		"5.5.5-10.11.6-MariaDB-0+deb12u1": 101106,
		"11.4.2-MariaDB":                  110402,
		"5.7.44-log":                      50744,
		"8.0.28":                          80028,
		"":                                0,
		"8.0":                             0,
		"8.0.mysql_aurora.3.04.0":         0,
		"MariaDB":                         0,
		"2024.1.100":                      0,
	} {
		if got := ServerVersion(greeting); got != want {
			t.Errorf("%q: got %d, want %d", greeting, got, want)
		}
	}
}

// versionTexts are read by both servers, and by ResolveVersions.
var versionTexts = []string{
	"SELECT 1 /*!40000 + 1 */", "SELECT 1 /*!40000+1*/", "SELECT 1 /*!+1*/", "SELECT 1 /*!50000 + 1 */ + 5", "SELECT 1 /*!99999 + 1 */",
	"SELECT 1 /*!999999 + 1 */", "SELECT 1 /*!0400001 + 1 */", "SELECT 5/*!4000012*/", "SELECT 5 /*!400001*/", "SELECT 5 /*!0400001*/",
	"SELECT 1 /*!400 + 1 */", "SELECT 1 + /*!400*/", "SELECT 1 + /*!4000*/", "SELECT 1 + /*!40000 2*/", "SELECT 1 /*!  40000 */",
	"SELECT 1 /*!50699 + 1 */", "SELECT 1 /*!50700 + 1 */", "SELECT 1 /*!80000 + 1 */", "SELECT 1 /*!90704 + 1 */", "SELECT 1 /*!090704 + 1 */",
	"SELECT 1 /*!90705 + 1 */", "SELECT 1 /*!99999 + 1 */", "SELECT 1 /*!100000 + 1 */", "SELECT 1 /*!101100 + 1 */", "SELECT 1 /*!101199 + 1 */",
	"SELECT 1 /*M! + 1 */", "SELECT 1 /*M!100000 + 1 */", "SELECT 1 /*M!50700 + 1 */", "SELECT 1 /*M!999999 + 1 */", "SELECT 1 /*M!050700 + 1 */",
	"SELECT 1 /*m!100000 + 1 */", "SELECT 1 /* !40000 + 1 */", "SELECT 1 /*!!40000 + 1 */",
	"/*!40000 SELECT 1 */", "/*!40000SELECT*/ 1", "/*!40000SELECT 1*/", "/*!99999 x */ SELECT 1", "/*!40000 SELECT */ /*!40000 1 */",
	"SELECT /*!40000 1 /* c */ + 1 */", "SELECT /*!40000 1 /*!50000 + 1 */ + 1", "SELECT /*!40000 1 /*!50000 + 1 */ + 1 */",
	"SELECT /*!40000 1 /*!99999 + 1 */ + 1 */", "SELECT /*!99999 1 /* c */ + 1 */ 7", "SELECT /*!99999 1 /*!40000 c */ + 1 */ 7",
	"SELECT /*!99999 1 /* /* c */ + 1 */ 7", "SELECT /*!99999 1 */ + 1 */ 7", "SELECT /*!99999 /**/ */ 7", "SELECT /*!99999 /*/ */ 7 -- */",
	"SELECT '/*!40000 1 */'", "SELECT '*/' /*!40000 '*/' */", "SELECT \"/*!40000\" /*!40000 \"*/\" */", "SELECT 1 AS `/*!40000` /*!40000 */",
	"SELECT 1 /*!40000 # */\n + 1 */", "SELECT 1 /*!40000 -- */\n + 1 */", "SELECT 1 -- /*!40000\n + 1", "SELECT 1 # /*!40000 \n + 1",
	"SELECT 2 /*!40000 * */ 3", "SELECT 2*/*!40000 3*/", "SELECT 2/*!40000 */*/*!40000*/3", "SELECT 6/2 */ 1", "SELECT 1 /*!40000 + 1",
	"SELECT 1 /*!99999 + 1", "SELECT 1 /*!", "SELECT 1 /*!*/", "SELECT 1 /*!*/ + 1", "SELECT 1 /*!40000*/ + 1", "SELECT 1 /*!4000", "SELECT 1 /*!40000",
	"SELECT '\\'/*!40000' */ , 3", "SELECT 1 /*!40000 ; */", "SELECT 1 /*!40000 + ';' */", "SELECT 1;/*!40000 SELECT 2*/",
	"SELECT/*!40000\n1,\n*/2", "SELECT -/*!40000-1*/", "SELECT COUNT/*!40000(*/1)", "SELECT 1/*!40000e1*/", "SELECT X/*!40000'31'*/", "SELECT 'a'/*!40000'b'*/",
	"SELECT N/*!40000'a'*/", "SELECT @/*!40000a*/", "SELECT @@/*!40000version_comment*/", "SELECT 1/*!40000.*/5", "SELECT information_schema/*!40000.tables*/.x",
	"SELECT 5 +/*!100000\t1*/ 3", "SELECT 5 +/*!050000\t1*/", "SELECT 5 +/*!050000\r1*/", "SELECT 5 +/*!050000\v1*/", "SELECT 5 +/*!050000\n1*/",
	"SELECT 5 /*!999999\\- sandbox */", "SELECT 5 /*!400001 + 1*/", "SELECT 5 /*!040000 + 1*/", "SELECT 5 /*!090705 +1*/", "SELECT 5 /*!090704 +1*/",
	"SELECT /*!40000 SQL_NO_CACHE */ 1", "SELECT 1 /*!40101 AS a */", "SELECT /*!00000 1 */", "SELECT /*!000000 1 */", "SELECT /*!0 1 */",
}

// sixDigits is a number of six digits without a space behind it, which MySQL
// servers read in two ways.
var sixDigits = regexp.MustCompile(`/\*!\d{6}\S`)

// Both servers read a text with version comments as ResolveVersions does.
func TestResolveVersionsOnServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		m := Mode{MariaDB: s.IsMariaDB()}
		for _, text := range versionTexts {
			resolved, ok := ResolveVersions([]byte(text), m, ServerVersion(s.Version))
			want, wantErrno := answer(t, c, text)
			switch got, errno := answer(t, c, string(resolved)); {
			case !ok && wantErrno == 0 && !strings.Contains(text, ";") && !sixDigits.MatchString(text):
				t.Errorf("%q: the server reads it, ResolveVersions does not", text)
			case !ok:
			case hasVersionComment(resolved, m):
				t.Errorf("%q: %q has a version comment still", text, resolved)
			case got != want || errno != wantErrno:
				t.Errorf("%q gives %q, error %d; as %q it gives %q, error %d", text, want, wantErrno, resolved, got, errno)
			}
		}
	})
}

// answer gives what a query answers, a line for each row of each result.
func answer(t *testing.T, c *sql.Conn, query string) (rows string, number int) {
	t.Helper()
	result, err := c.QueryContext(t.Context(), query)
	if err != nil {
		return "", errno(t, err)
	}
	defer result.Close()
	for more := true; more; more = result.NextResultSet() {
		columns, err := result.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for result.Next() {
			values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := result.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				rows += v.String + " "
			}
			rows += "\n"
		}
	}
	return rows, errno(t, result.Err())
}

// hasVersionComment reports whether a version comment stands in a text.
func hasVersionComment(text []byte, m Mode) bool {
	s := newScanner(text, m)
	s.openings = true
	for {
		switch s.next() {
		case tokenVersion:
			return true
		case tokenEOF, tokenInvalid:
			return false
		}
	}
}

// Whatever the text: what is resolved is as long, line by line, and has no version
// comment; resolved once more it stays as it is.
func FuzzResolveVersions(f *testing.F) {
	for _, text := range versionTexts {
		f.Add(text, uint8(0), 90704)
		f.Add(text, uint8(0xff), 101106)
	}
	f.Fuzz(func(t *testing.T, text string, mode uint8, version int) {
		m := fuzzMode(mode)
		m.MariaDB = version >= 100000
		resolved, ok := ResolveVersions([]byte(text), m, version)
		if !ok {
			return
		}
		if len(resolved) != len(text) || bytes.Count(resolved, []byte("\n")) != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, resolved)
		}
		if hasVersionComment(resolved, m) {
			t.Errorf("%q has a version comment", resolved)
		}
		if again, ok := ResolveVersions(resolved, m, version); !ok || !bytes.Equal(again, resolved) {
			t.Errorf("%q once more is %q", resolved, again)
		}
	})
}
