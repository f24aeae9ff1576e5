package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/seqgate/seqgate/internal/servertest"
)

// The tables of Leaf (scripts/leaf_alloc.sql), tinyid (tinyid-server/db.sql) and idgo (server/idgo.go), as far as they
// matter here.
const (
	leafTable   = "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT NOT NULL DEFAULT 1, step INT NOT NULL)"
	tinyidTable = "CREATE TABLE tiny_id_info (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, biz_type VARCHAR(63) NOT NULL UNIQUE, " +
		"max_id BIGINT NOT NULL, step INT DEFAULT 0, delta INT NOT NULL DEFAULT 1, remainder INT NOT NULL DEFAULT 0)"
	idgoTable     = "CREATE TABLE `order` (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, PRIMARY KEY (id))"
	ticketsTable  = "CREATE TABLE Tickets64 (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, stub CHAR(1) NOT NULL DEFAULT '' UNIQUE)"
	usersTable    = "CREATE TABLE users (id BIGINT AUTO_INCREMENT PRIMARY KEY)"
	usersSequence = "CREATE TABLE users_seq " + vitessSequence

	createUsersSequence = "CREATE TABLE `DB`.`users_seq` (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT 'vitess_sequence';"
)

func TestSeqImport(t *testing.T) {
	tests := []struct {
		name    string
		sources [][]string // the statements of each
		target  []string
		args    string
		want    []string // the output's lines, but for the CREATE TABLE
		row     string   // of users_seq
	}{
		{"leaf", [][]string{{leafTable, "INSERT INTO leaf_alloc VALUES ('user tag', 5001, 2000), ('other', 9, 1)"}}, nil,
			"leaf|users_seq=user tag",
			[]string{`-- main.users_seq: leaf "user tag" stands at 5001 in source 1`, "INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 5001, 2000);"},
			"5001 2000"},
		{"tinyid", [][]string{{tinyidTable, "INSERT INTO tiny_id_info (biz_type, max_id, step) VALUES ('users', 5000, 100)"}}, nil,
			"tinyid|main.users_seq=users|--margin|10",
			[]string{`-- main.users_seq: tinyid "users" stands at 5001 in source 1`, "INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 5011, 100);"},
			"5011 100"},
		{"tinyid on two servers", [][]string{
			{tinyidTable, "INSERT INTO tiny_id_info (biz_type, max_id, step, delta, remainder) VALUES ('users', 5000, 100, 2, 0)"},
			{tinyidTable, "INSERT INTO tiny_id_info (biz_type, max_id, step, delta, remainder) VALUES ('users', 7000, 200, 2, 1)"}}, nil,
			"tinyid|users_seq=users",
			[]string{
				`-- main.users_seq: tinyid "users" stands at 5001 in source 1; it gives only ids that leave 0 when divided by 2, the sequence gives all: import from all its servers at once`,
				`-- main.users_seq: tinyid "users" stands at 7001 in source 2; it gives only ids that leave 1 when divided by 2, the sequence gives all: import from all its servers at once`,
				"INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 7001, 200);"},
			"7001 200"},
		{"AUTO_INCREMENT with offsets", [][]string{
			{usersTable, "INSERT INTO users VALUES (220)", "DELETE FROM users"},
			{usersTable, "SET auto_increment_increment = 2, auto_increment_offset = 1", "INSERT INTO users VALUES (101)"}}, nil,
			"auto_increment|--cache|50|users_seq=users|--margin|1000",
			[]string{`-- main.users_seq: auto_increment "users" stands at 221 in source 1`, `-- main.users_seq: auto_increment "users" stands at 102 in source 2`,
				"INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 1221, 50);"},
			"1221 50"},
		{"Flickr's tickets", [][]string{{ticketsTable, "INSERT INTO Tickets64 VALUES (72157623227190423, 'a')"}}, nil,
			"auto_increment|users_seq=Tickets64",
			[]string{`-- main.users_seq: auto_increment "Tickets64" stands at 72157623227190424 in source 1`,
				"INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 72157623227190424, 1000);"},
			"72157623227190424 1000"},
		{"idgo", [][]string{{idgoTable, "INSERT INTO `order` VALUES (10)", "UPDATE `order` SET id = id + 500"}}, nil, "idgo|users_seq=order",
			[]string{`-- main.users_seq: idgo "order" stands at 2511 in source 1`, "INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 2511, 1000);"},
			"2511 1000"},
		{"ids in use count too", [][]string{{leafTable, "INSERT INTO leaf_alloc VALUES ('users', 5001, 2000)"}},
			[]string{"CREATE TABLE users (id BIGINT PRIMARY KEY)", "INSERT INTO users VALUES (8000)"}, "leaf|users_seq=users",
			[]string{`-- main.users_seq: leaf "users" stands at 5001 in source 1`, "INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 8001, 2000);"},
			"8001 2000"},
		{"only raises", [][]string{{leafTable, "INSERT INTO leaf_alloc VALUES ('users', 5001, 2000)"}},
			[]string{usersSequence, "INSERT INTO users_seq VALUES (0, 6000, 7)"}, "leaf|users_seq=users",
			[]string{`-- main.users_seq: leaf "users" stands at 5001 in source 1`, "-- main.users_seq: nothing to do, next_id 6000, cache 7"},
			"6000 7"},
		{"raises", [][]string{{leafTable, "INSERT INTO leaf_alloc VALUES ('users', 5001, 2000)"}},
			[]string{usersSequence, "INSERT INTO users_seq VALUES (0, 60, 7)"}, "leaf|users_seq=users",
			[]string{`-- main.users_seq: leaf "users" stands at 5001 in source 1`,
				"UPDATE `DB`.`users_seq` SET next_id = GREATEST(next_id, 5001) WHERE id = 0;",
				"-- main.users_seq: next_id 60, cache 7 -> next_id 5001, cache 7"},
			"5001 7"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, "", tt.target...)
				args := strings.Split(tt.args, "|")
				for _, statements := range tt.sources {
					args = append(args, "--from", s.DSN(newSource(t, s, statements)))
				}
				want := tt.want
				if tt.target == nil || !strings.Contains(tt.target[0], "users_seq") {
					n := len(tt.sources)
					want = append(append(want[:n:n], createUsersSequence), want[n:]...)
				}
				out, err := p.run(seqCommand("import"), append(args, "--dry-run")...)
				if err != nil {
					t.Fatal(err)
				}
				wantLines(t, out, want...)
				if out, err = p.run(seqCommand("import"), args...); err != nil {
					t.Fatal(err)
				}
				wantLines(t, out, want...)
				if got := p.sequence("users_seq"); got != tt.row {
					t.Errorf("next_id and cache %s, want %s", got, tt.row)
				}
			})
		}
	})
}

// newSource makes a database with an old system's tables; all statements run on one connection.
func newSource(t *testing.T, s *servertest.Server, statements []string) string {
	t.Helper()
	name := s.NewDatabase(t)
	conn, err := s.Open(t, name).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range statements {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return name
}

func TestSeqImportRefuses(t *testing.T) {
	leaf := []string{leafTable, fmt.Sprintf("INSERT INTO leaf_alloc VALUES ('users', 5001, 2000), ('end', %d, 1)", int64(math.MaxInt64))}
	tests := []struct {
		name    string
		source  []string
		vschema string
		args    string
		code    int
		want    string
	}{
		{"no such tag", leaf, "", "leaf s=nope", 1, `source 1: leaf "nope": there is no such key`},
		{"no such table", nil, "", "leaf s=users", 1, `source 1: leaf "users": Error 1146`},
		{"no such counter", nil, "", "auto_increment s=users", 1, `source 1: auto_increment "users": there is no such table`},
		{"no counter", leaf, "", "auto_increment s=leaf_alloc", 1, "its primary key biz_tag is a varchar, no integer"},
		{"margin past the end", leaf, "", "leaf s=end --margin 1", 1, "9223372036854775807 and a margin of 1 are past the last id"},
		{"used up", []string{tinyidTable, "INSERT INTO tiny_id_info (biz_type, max_id) VALUES ('users', 9223372036854775807)"}, "",
			"tinyid s=users", 1, "its ids are used up: the last was 9223372036854775807"},
		{"past the column", leaf, "", "leaf small_seq=users", 1,
			"sequence main.small_seq: the next id would be 5001, and the ids of what it fills end at 127: make the column a BIGINT"},
		{"not in the vschema", leaf, initVSchema, "leaf s=users", 2, `the vschema has no sequence main.s: write "s": {"type": "sequence"} there`},
		{"a table of the vschema", leaf, initVSchema, "leaf a=users", 2, "the vschema has no sequence main.a"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, tt.vschema, "CREATE TABLE small (id TINYINT PRIMARY KEY)")
				_, err := p.run(seqCommand("import"), append(strings.Fields(tt.args), "--from", s.DSN(newSource(t, s, tt.source)))...)
				wantError(t, p, err, tt.code, tt.want)
				var tables int
				query := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 's'"
				if err := p.db.QueryRow(query).Scan(&tables); err != nil || tables != 0 {
					t.Errorf("%d tables s, %v, want none", tables, err)
				}
			})
		}
	})
}

func TestSeqImportSources(t *testing.T) {
	tests := []struct {
		name, system, from string
		code               int
		want               string
	}{
		{"bad DSN", "leaf", "nowhere", 2, "--from: "},
		{"no database", "leaf", "u:p@tcp(127.0.0.1:1)/", 2, "--from: the DSN names no database"},
		{"away", "leaf", "u:p@tcp(127.0.0.1:1)/d", 1, "source 1: database d at 127.0.0.1:1: "},
		{"bad URL", "redis", "127.0.0.1:6379", 2, "--from: "},
		{"redis away", "redis", "redis://127.0.0.1:1", 1, "source 1: redis at 127.0.0.1:1: "},
	}
	p := newPlace(t, servertest.First(t), "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.run(seqCommand("import"), tt.system, "--from", tt.from, "s=k")
			wantError(t, p, err, tt.code, tt.want)
		})
	}
}

func TestSeqImportRedis(t *testing.T) {
	addr := servertest.StartRedis(t)
	client := redis.NewClient(&redis.Options{Addr: addr, DB: 2})
	defer client.Close()
	for range 5 {
		if err := client.IncrBy(t.Context(), "ids:user", 1000).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Set(t.Context(), "text", "abc", 0).Err(); err != nil {
		t.Fatal(err)
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "")
		from := []string{"redis", "--from", "redis://" + addr + "/2"}
		out, err := p.run(seqCommand("import"), append(from, "users_seq=ids:user", "--margin", "100")...)
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, out, `-- main.users_seq: redis "ids:user" stands at 5001 in source 1`, createUsersSequence,
			"INSERT INTO `DB`.`users_seq` (id, next_id, cache) VALUES (0, 5101, 1000);")
		_, err = p.run(seqCommand("import"), append(from, "users_seq=nope")...)
		wantError(t, p, err, 1, `source 1: redis "nope": there is no such key`)
		_, err = p.run(seqCommand("import"), append(from, "users_seq=text")...)
		wantError(t, p, err, 1, `source 1: redis "text": `)
	})
}
