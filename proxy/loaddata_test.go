package proxy_test

import (
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// loadCase is a file that is loaded into a native AUTO_INCREMENT table and through
// seqgate. {f} in a statement is the file, {t} the table.
type loadCase struct {
	name  string
	setup []string
	stmt  string
	file  string
	table string // the columns behind the id; u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0 when empty
	gaps  bool   // ids are compared by their order alone
}

const fields = "LOAD DATA LOCAL INFILE '{f}' INTO TABLE {t} FIELDS TERMINATED BY ',' "

var loadCases = []loadCase{
	{name: "tabs", stmt: "LOAD DATA LOCAL INFILE '{f}' INTO TABLE {t} (u, n)", file: "a\t1\nb\t2\nc\t3\n"},
	{name: "no end of the last line", stmt: fields + "(u, n)", file: "a,1\nb,2"},
	{name: "empty file", stmt: fields + "(u, n)", file: ""},
	{name: "one line end", stmt: fields + "(u, n)", file: "\n"},
	{name: "empty lines", stmt: fields + "(u, n)", file: "a,1\n\nb,2\n"},
	{name: "short and long lines", stmt: fields + "(u, n)", file: "a\nb,2,x,y\nc,3\\\nd\ne,5,\\\n,z\nf,6\n"},
	{name: "truncated data", stmt: fields + "(u, n)", file: "a,x\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,2\nc,99999999999999999999\n"},
	{name: "truncated data, not strict", setup: []string{"SET sql_mode = ''"}, stmt: fields + "(u, n)", file: "a,x\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,2\n"},
	{name: "truncated data, REPLACE", stmt: strings.Replace(fields, "INTO", "REPLACE INTO", 1) + "(u, n)", file: "a,1\nb,x\n"},
	{name: "duplicates", gaps: true, setup: []string{"INSERT INTO {t} (u) VALUES ('a'), ('c')"}, stmt: fields + "(u, n)", file: "a,1\nb,2\nc,3\nd,4\n"},
	{name: "nothing but duplicates", setup: []string{"INSERT INTO {t} (u) VALUES ('a'), ('c')"}, stmt: fields + "(u, n)", file: "a,1\nc,3\n"},
	{name: "IGNORE", gaps: true, setup: []string{"INSERT INTO {t} (u) VALUES ('a')"}, stmt: strings.Replace(fields, "INTO", "IGNORE INTO", 1) + "(u, n)", file: "a,1\nb,2\n"},
	{name: "REPLACE", setup: []string{"INSERT INTO {t} (u) VALUES ('a')"}, stmt: strings.Replace(fields, "INTO", "REPLACE INTO", 1) + "(u, n)", file: "a,1\nb,2\na,3\n"},
	{name: "enclosed", stmt: fields + "ENCLOSED BY '\"' (u, n)", file: "\"a,1\",1\n\"b\"\"\nx\",\"2\"\n\"c\" ,3\nd\"e,4\n\"f\\\"\",5\n\"g"},
	{name: "optionally enclosed", stmt: fields + "OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n' (u, n)", file: "\"a\r\nb\",1\r\nc\nd,2\r\ne\r,3\r\n"},
	{name: "escaped by its enclosure", stmt: fields + "ENCLOSED BY '\"' ESCAPED BY '\"' (u, n)", file: "\"a\"\"b\",1\nc\"\"d,2\n\"\",3\n"},
	{name: "no escapes", stmt: fields + "ESCAPED BY '' (u, n)", file: "a\\,1\nb\\\nc,3\n"},
	{name: "NO_BACKSLASH_ESCAPES", setup: []string{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'"}, stmt: fields + "LINES TERMINATED BY '\n' (u, n)", file: "a\\,1\nb\\\nc,3\n"},
	{name: "long terminators", stmt: "LOAD DATA LOCAL INFILE '{f}' INTO TABLE {t} FIELDS TERMINATED BY '<|>' LINES TERMINATED BY '<||>' (u, n)",
		file: "a<|>1<||>b<<|>2<|<||>c<|><||>d<|"},
	{name: "lines starting by", stmt: fields + "LINES STARTING BY 'xx:' (u, n)", file: "xx:a,1\nno\nxxx:b,2,3\nyyxx:c,3\nxx:"},
	{name: "ignored lines", stmt: fields + "IGNORE 2 LINES (u, n)", file: "head \\\ner\nunder\na,1\nb,2\n"},
	{name: "more ignored lines than lines", stmt: fields + "IGNORE 5 LINES (u, n)", file: "a,1\nb,2\n"},
	{name: "no line terminator", stmt: fields + "LINES TERMINATED BY '' (u, n)", file: "a,1,b,2,c,3"},
	{name: "equal terminators", stmt: fields + "LINES TERMINATED BY ',' IGNORE 1 LINES (u, n)", file: "a,1,b,2,c"},
	{name: "variables and SET", stmt: fields + "(u, @x, @y) SET n = @x * 10 + LENGTH(@y)", file: "a,1,zz\nb,2\nc\n"},
	{name: "LAST_INSERT_ID() in SET", stmt: fields + "(u) SET n = LAST_INSERT_ID()", file: "a\nb\n"},
	{name: "LAST_INSERT_ID(n) in SET", stmt: fields + "(u) SET n = LAST_INSERT_ID(55)", file: "a\nb\n"},
	{name: "characters", stmt: strings.Replace(fields, "FIELDS", "CHARACTER SET utf8mb4 FIELDS", 1) + "(u, n)", file: "äö,1\n\\ü,2\n€,3,€\\\né\n😀,4\n"},
	{name: "latin1", stmt: strings.Replace(fields, "FIELDS", "CHARACTER SET latin1 FIELDS", 1) + "(u, n)", file: "\xe4\xf6,1\n\xfc\\,,2,\xc3\nz,3\n"},
	{name: "the table by its schema", stmt: strings.Replace(fields, "{t}", "{s}.{t}", 1) + "(u, n)", file: "a,1\n"},
	{name: "qualified columns", stmt: fields + "({t}.u, {t}.n)", file: "a,1\n"},
	{name: "semicolon and comments", stmt: "/* a */ LOAD DATA LOCAL INFILE '{f}' /* b */ INTO TABLE {t} -- c\n (u /* d */) ;", file: "a\n"},
	{name: "unknown column", stmt: fields + "(u, nosuch)", file: "a,1\n"},
	{name: "wrong separators", stmt: fields + "ENCLOSED BY 'ab' (u)", file: "a,1\n"},
	{name: "CHECK", gaps: true, table: "u VARCHAR(20), n BIGINT, CHECK (n <> 2)", stmt: fields + "(u, n)", file: "x,2\na,1\nb,2,y\nc,3\n"},
	{name: "NOT NULL", table: "u VARCHAR(20) NOT NULL, n BIGINT NOT NULL", stmt: fields + "(u, n)", file: "\\N,1\nb,\\N\nc\n"},
	{name: "hexadecimal separators", stmt: "LOAD DATA LOCAL INFILE '{f}' INTO TABLE {t} FIELDS TERMINATED BY 0x01 LINES TERMINATED BY X'0A' (u, n)", file: "a\x011\nb\x012\n"},

	{name: "id in the file", stmt: fields, file: "\\N,a,1\n0,b,2\n\\N,c,3\n"},
	{name: "own ids", stmt: fields, file: "7,a,1\n9,b,2\n"},
	{name: "own ids beside open ones", stmt: fields, file: "\\N,a,1\n9,b,2\n"},
	{name: "own ids, last open", stmt: fields, file: "9,b,2\n\\N,a,1\n0,c,1\n"},
	{name: "id in the list", stmt: fields + "(u, id, n)", file: "a,\\N,1\nb,0,2,z\nc,0\n"},
	{name: "id last", stmt: fields + "(u, id)", file: "a,0\nb,\\N"},
	{name: "id enclosed", stmt: fields + "ENCLOSED BY '\"'", file: "NULL,a,1\n\"0\",b,2\n\"\\N\",c,3\n\"00\",d,4\n"},
	{name: "id enclosed, at the end", stmt: fields + "ENCLOSED BY '\"' (u, id)", file: "a,\"0\"\nb,\"0\""},
	{name: "id with NO_AUTO_VALUE_ON_ZERO", setup: []string{"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"}, stmt: fields, file: "0,a,1\n\\N,b,2\n"},
	{name: "id negative", stmt: fields, file: "-5,a,1\n\\N,b,2\n"},
	{name: "id twice", stmt: fields, file: "5,a,1\n5,b,2\n"},
	{name: "id and empty list", stmt: fields + "()", file: "0,a,1\n"},
	{name: "invisible column", table: "u VARCHAR(20), n BIGINT INVISIBLE DEFAULT 4", stmt: fields, file: "0,a,5\n0,b\n"},
	{name: "invisible column in the list", table: "u VARCHAR(20), n BIGINT INVISIBLE DEFAULT 4", stmt: fields + "(n, u)", file: "5,a\n\\N,b\n"},
	{name: "generated column", table: "u VARCHAR(20), n BIGINT AS (LENGTH(u)) STORED", stmt: fields, file: "0,aa,7\n0,b\n"},
	{name: "generated column in between", table: "n BIGINT AS (LENGTH(u)) VIRTUAL, u VARCHAR(20)", stmt: fields + "(u)", file: "aa,7\nb\n"},
	{name: "partition", table: "u VARCHAR(20), n BIGINT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN MAXVALUE",
		stmt: "LOAD DATA LOCAL INFILE '{f}' INTO TABLE {t} PARTITION (p0, p1) (u, n)", file: "a\t1\nb\t2\nc\t3\nd\t4\n", gaps: true},
}

// loadOutcome is what a client can see of a LOAD DATA.
type loadOutcome struct {
	Errno                  uint16
	Error                  string
	InsertID               int64
	LastID                 string // the row that has the id LAST_INSERT_ID()
	LastIDKept, LastIDThen bool   // it is as before, and as before when asked once more
	Affected, RowCount     int64
	Warnings               []string
	Rows                   string
}

// Through seqgate a file is loaded as into a native AUTO_INCREMENT column, down to
// the ids.
func TestLoadData(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		database := s.NewDatabase(t)
		exec(t, g.direct, "SET GLOBAL local_infile = 1", "ALTER DATABASE "+database+" CHARACTER SET utf8mb4", "ALTER DATABASE "+g.database+" CHARACTER SET utf8mb4")
		native, through := s.Open(t, database), g.open(t, "")
		for i, tt := range loadCases {
			t.Run(tt.name, func(t *testing.T) {
				table := fmt.Sprintf("t%d", i)
				if tt.table == "" {
					tt.table = "u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0"
				}
				exec(t, native, "CREATE TABLE "+table+" (id BIGINT PRIMARY KEY AUTO_INCREMENT, "+tt.table+")")
				want := tt.run(t, conn(t, native), database, table)
				for _, column := range []string{"BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY AUTO_INCREMENT"} {
					table += "x"
					exec(t, through, "CREATE TABLE "+table+" (id "+column+", "+tt.table+")")
					createSequence(t, through, table+"_seq", 1, 10)
					got := tt.run(t, conn(t, through), g.database, table)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s on %s (-native +seqgate):\n%s", tt.stmt, column, diff)
					}
				}
			})
		}
	})
}

// run runs the case, and then asks what a client may ask.
func (tt loadCase) run(t *testing.T, c *sql.Conn, schema, table string) loadOutcome {
	t.Helper()
	ctx := t.Context()
	fit := strings.NewReplacer("{t}", table, "{s}", schema, "{f}", readerFor(t, strings.NewReader(tt.file))).Replace
	hide := strings.NewReplacer(schema, "{s}", table, "{t}").Replace
	for _, statement := range append([]string{"SET sql_mode = DEFAULT"}, tt.setup...) {
		exec(t, c, fit(statement))
	}
	value[int64](t, c, fmt.Sprintf("SELECT LAST_INSERT_ID(%d)", old))
	result, err := c.ExecContext(ctx, fit(tt.stmt))
	o := loadOutcome{Errno: errno(err)}
	if err == nil {
		o.InsertID, _ = result.LastInsertId()
		o.Affected, _ = result.RowsAffected()
	} else {
		o.Error = hide(err.Error())
	}
	rows, err := c.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var level, code, message string
		if err := rows.Scan(&level, &code, &message); err != nil {
			t.Fatal(err)
		}
		o.Warnings = append(o.Warnings, level+" "+code+" "+hide(message))
	}
	o.RowCount = value[int64](t, c, "SELECT ROW_COUNT()")
	id := "id"
	if tt.gaps {
		id = "(SELECT COUNT(*) FROM " + table + " b WHERE b.id < a.id)"
	}
	lastID := value[int64](t, c, "SELECT LAST_INSERT_ID()")
	o.LastID = value[string](t, c, fmt.Sprintf("SELECT COALESCE((SELECT %s FROM %s a WHERE id = %d), 'none')", id, table, lastID))
	o.Rows = value[string](t, c, "SELECT COALESCE(GROUP_CONCAT(CONCAT_WS('/', "+id+", COALESCE(u, 'NULL'), n) ORDER BY id SEPARATOR ' '), '') FROM "+table+" a")
	o.LastIDThen = value[int64](t, c, "SELECT LAST_INSERT_ID()") == lastID
	o.LastIDKept = lastID == old && o.Errno == 0 // docs/insert-ids.md has the limit
	return o
}

var readers atomic.Int64

// readerFor gives the name under which the driver reads r as a local file, once.
func readerFor(t testing.TB, r io.Reader) string {
	name := fmt.Sprintf("load%d", readers.Add(1))
	mysql.RegisterReaderHandler(name, func() io.Reader { return r })
	t.Cleanup(func() { mysql.DeregisterReaderHandler(name) })
	return "Reader::" + name
}
