package parser

import (
	"errors"
	"strings"
	"testing"
)

func TestLoadFilled(t *testing.T) {
	for _, tt := range []struct {
		name, sql, want string
		mode            Mode
		columns         []string // the table's; id, a, b when nil
	}{
		{name: "list without the id", sql: "LOAD DATA LOCAL INFILE 'f' INTO TABLE t (a, @x) SET b = @x", want: "LOAD DATA LOCAL INFILE 'f' INTO TABLE t (`id`, a, @x) SET b = @x"},
		{name: "list with the id", sql: "LOAD DATA LOCAL INFILE 'f' INTO TABLE t (a, ID)", want: "LOAD DATA LOCAL INFILE 'f' INTO TABLE t (a, ID)"},
		{name: "no list", sql: "load data local infile 'f' into table t", want: "load data local infile 'f' into table t (`id`, `a`, `b`) "},
		{name: "no list, but SET", sql: "load data local infile 'f' into table t SET b = 1", want: "load data local infile 'f' into table t (`id`, `a`, `b`)  SET b = 1"},
		{name: "no list, but a comment", sql: "load data local infile 'f' into table t # end", want: "load data local infile 'f' into table t (`id`, `a`, `b`)  # end"},
		{name: "empty list", sql: "load data local infile 'f' into table t ()", want: "load data local infile 'f' into table t (`id`, `a`, `b`)"},
		{name: "invisible id", sql: "load data local infile 'f' into table t;", columns: []string{"a"}, want: "load data local infile 'f' into table t (`id`, `a`) ;"},
		{name: "all clauses", sql: "LOAD DATA CONCURRENT LOCAL INFILE 'f' REPLACE INTO TABLE `s`.`t` PARTITION (p0, p1) CHARACTER SET latin1 COLUMNS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' " +
			"LINES STARTING BY 'x' TERMINATED BY 0x0D0A IGNORE 1 ROWS (t.a, s.t.b, @`v`, @'w') SET c = DEFAULT, d := f(1, 2)",
			want: "LOAD DATA CONCURRENT LOCAL INFILE 'f' REPLACE INTO TABLE `s`.`t` PARTITION (p0, p1) CHARACTER SET latin1 COLUMNS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' " +
				"LINES STARTING BY 'x' TERMINATED BY 0x0D0A IGNORE 1 ROWS (`id`, t.a, s.t.b, @`v`, @'w') SET c = DEFAULT, d := f(1, 2)"},
		{name: "comments", sql: "LOAD/**/DATA LOCAL INFILE 'f' INTO TABLE t/*(*/ (/*)*/a) # end", want: "LOAD/**/DATA LOCAL INFILE 'f' INTO TABLE t/*(*/ (`id`, /*)*/a) # end"},
		{name: "ANSI_QUOTES", sql: `LOAD DATA LOCAL INFILE 'f' INTO TABLE "t" ("a")`, mode: Mode{ANSIQuotes: true}, want: "LOAD DATA LOCAL INFILE 'f' INTO TABLE \"t\" (`id`, \"a\")"},
		{name: "gbk", sql: "LOAD DATA LOCAL INFILE '\xbf\x5c' INTO TABLE t (a)", mode: Mode{Charset: CharsetByName("gbk")}, want: "LOAD DATA LOCAL INFILE '\xbf\x5c' INTO TABLE t (`id`, a)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ParseLoad([]byte(tt.sql), tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			if tt.columns == nil {
				tt.columns = []string{"id", "a", "b"}
			}
			if err := s.Bind("id", tt.columns); err != nil {
				t.Fatal(err)
			}
			if got := string(s.AppendFilled(nil, []byte(tt.sql))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if s.Table != "t" {
				t.Errorf("table %q, want t", s.Table)
			}
		})
	}
}

func TestLoadFormats(t *testing.T) {
	const load = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t "
	for _, tt := range []struct {
		clauses string
		mode    Mode
		want    LoadFormat
	}{
		{clauses: "", want: LoadFormat{FieldTerm: []byte("\t"), LineTerm: []byte("\n"), Enclosed: NoByte, Escape: '\\'}},
		{clauses: "", mode: Mode{NoBackslashEscapes: true}, want: LoadFormat{FieldTerm: []byte("\t"), LineTerm: []byte("\n"), Enclosed: NoByte, Escape: NoByte}},
		{clauses: `FIELDS ESCAPED BY '\'`, mode: Mode{NoBackslashEscapes: true}, want: LoadFormat{FieldTerm: []byte("\t"), LineTerm: []byte("\n"), Enclosed: NoByte, Escape: '\\'}},
		{clauses: `FIELDS TERMINATED BY ',' TERMINATED BY '\'\t' ENCLOSED BY '"' LINES TERMINATED BY '' STARTING BY x'4142'`,
			want: LoadFormat{FieldTerm: []byte("'\t"), LineTerm: []byte{}, LineStart: []byte("AB"), Enclosed: '"', Escape: '\\'}},
		{clauses: "FIELDS ESCAPED BY '' IGNORE 12 LINES", want: LoadFormat{FieldTerm: []byte("\t"), LineTerm: []byte("\n"), Enclosed: NoByte, Escape: NoByte, Skip: 12}},
	} {
		s, err := ParseLoad([]byte(load+tt.clauses), tt.mode)
		if err != nil {
			t.Errorf("%s: %v", tt.clauses, err)
			continue
		}
		f := s.Format
		if string(f.FieldTerm) != string(tt.want.FieldTerm) || string(f.LineTerm) != string(tt.want.LineTerm) || string(f.LineStart) != string(tt.want.LineStart) ||
			f.Enclosed != tt.want.Enclosed || f.Escape != tt.want.Escape || f.Skip != tt.want.Skip {
			t.Errorf("%s: got %+v, want %+v", tt.clauses, f, tt.want)
		}
	}
}

// What cannot be given its ids with certainty is refused, with a name for it.
func TestLoadRefused(t *testing.T) {
	const load = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t "
	for sql, want := range map[string]string{
		"LOAD DATA INFILE 'f' INTO TABLE t":              "without LOCAL",
		load + "FIELDS TERMINATED BY ''":                 "rows of fixed size",
		load + "FIELDS TERMINATED BY '' ENCLOSED BY 'x'": "FIELDS TERMINATED BY ''",
		load + "FIELDS TERMINATED BY '\\\\'":             "never found",
		load + "FIELDS TERMINATED BY '\\n,'":             "never found",
		load + "FIELDS TERMINATED BY '1'":                "digits",
		load + "FIELDS ENCLOSED BY '1'":                  "digits",
		load + "FIELDS ESCAPED BY '0'":                   "digits",
		load + "LINES TERMINATED BY '0x'":                "digits",
		load + "LINES TERMINATED BY '' IGNORE 1 LINES":   "IGNORE n LINES",
		load + "FIELDS TERMINATED BY 'é'":                "of this form (near",
		load + "FIELDS TERMINATED BY b'101'":             "of this form",
		load + "ROWS IDENTIFIED BY '<a>'":                "of this form",
		load + "(a, b) /*!40000 SET c = 1 */":            "of this form",
		load + "(a,)":                                    "of this form",
		load + "(a) SET b = 1,":                          "of this form",
		load + "(a) PARALLEL = 4":                        "of this form",
		load + "(a) SET id = 5":                          "SET names the column 'id'",
		load + "(a) SET b = 1 + t.ID":                    "SET names the column 'id'",
		load + "(id, a) SET id = 5":                      "SET names the column 'id'",
		load + "(id, a, id)":                             "twice",
	} {
		s, err := ParseLoad([]byte(sql), Mode{})
		if err == nil {
			err = s.Bind("id", []string{"id", "a"})
		}
		var form *UnsupportedError
		if !errors.As(err, &form) || !strings.Contains(form.Form, want) || form.Table != "t" {
			t.Errorf("%s: got %v, want an error that names the table and %q", sql, err, want)
		}
	}
	for _, sql := range []string{"LOAD XML LOCAL INFILE 'f' INTO TABLE t", "LOAD DATA LOCAL INFILE 'f' INTO t", "LOAD DATA LOCAL INFILE 'f' /*! INTO */ TABLE t", "LOAD DATA FROM LOCAL INFILE 'f' INTO TABLE t"} {
		var syntax *SyntaxError
		if _, err := ParseLoad([]byte(sql), Mode{}); !errors.As(err, &syntax) {
			t.Errorf("%s: got %v, want a *SyntaxError", sql, err)
		}
	}
	for _, sql := range []string{load + "FIELDS ENCLOSED BY 'ab'", load + "FIELDS ESCAPED BY 'ab'"} {
		if _, err := ParseLoad([]byte(sql), Mode{}); !errors.Is(err, ErrServerRefuses) {
			t.Errorf("%s: got %v, want ErrServerRefuses", sql, err)
		}
	}
}

// Files in character sets with other multi-byte characters than UTF-8's are not
// read.
func TestLoadCharsets(t *testing.T) {
	s, err := ParseLoad([]byte("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"), Mode{})
	if err == nil {
		err = s.Bind("id", []string{"id", "a"})
	}
	if err != nil {
		t.Fatal(err)
	}
	for charset, want := range map[string]bool{"utf8mb4": true, "UTF8MB3": true, "utf8": true, "latin1": true, "cp1251": true, "binary": true, "ascii": true,
		"gbk": false, "gb18030": false, "gb2312": false, "big5": false, "sjis": false, "cp932": false, "ujis": false, "eucjpms": false, "euckr": false,
		"ucs2": false, "utf16": false, "utf16le": false, "utf32": false, "nosuch": false} {
		if _, err := s.Splitter(charset, Mode{}); (err == nil) != want {
			t.Errorf("%s: got %v, want it to be read: %v", charset, err, want)
		}
	}
}

// FuzzParseLoad: what is written for a statement reads as the same statement, with
// the id in its list.
func FuzzParseLoad(f *testing.F) {
	for _, clauses := range []string{"", "(a, @b) SET a = f(@b)", "PARTITION (p) CHARACTER SET latin1 FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES STARTING BY 'x' IGNORE 1 LINES (id)", "/* ( */ () ;"} {
		f.Add([]byte("LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE s.t "+clauses), false, uint8(0))
	}
	f.Fuzz(func(t *testing.T, sql []byte, ansi bool, charset uint8) {
		m := Mode{ANSIQuotes: ansi, Charset: Charset(int(charset) % len(charsets))}
		s, err := ParseLoad(sql, m)
		columns := []string{"id", "a", "b"}
		if err != nil || s.Bind("id", columns) != nil {
			return
		}
		filled := s.AppendFilled(nil, sql)
		again, err := ParseLoad(filled, m)
		if err != nil {
			t.Fatalf("%q became %q: %v", sql, filled, err)
		}
		if err := again.Bind("id", nil); err != nil || again.index < 0 || again.Table != s.Table || again.Schema != s.Schema {
			t.Fatalf("%q became %q of table %q, with the id at %d: %v", sql, filled, again.Table, again.index, err)
		}
	})
}
