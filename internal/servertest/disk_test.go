package servertest

import (
	"strings"
	"testing"
	"time"
)

// A server whose disk is filled refuses what needs room, or ends, keeps what it has, and takes more when there is room again.
func TestSmallDisk(t *testing.T) {
	Private(t, func(t *testing.T, s *Server) {
		disks, err := OnSmallDisks(t, []*Server{s}, 64<<20)
		if err != nil {
			t.Skip(err) // as in a container that may not mount
		}
		disk := disks[0]
		db := s.Open(t, s.NewDatabase(t))
		insert := func() error {
			_, err := db.ExecContext(t.Context(), "INSERT INTO filled VALUES (?)", strings.Repeat("x", 8<<20))
			return err
		}
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE filled (v LONGTEXT)"); err != nil {
			t.Fatal(err)
		}
		if err := insert(); err != nil {
			t.Fatal(err)
		}
		if err := disk.Fill(); err != nil {
			t.Fatal(err)
		}
		if err := insert(); err == nil {
			t.Error("there was room on a full disk")
		}
		if err := disk.Free(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(patience); ; {
			s.StartIfEnded(t)
			err := insert()
			if err == nil {
				break
			}
			if time.Now().After(end) { // a server may answer until the moment in which it ends
				t.Fatalf("with room again: %v", err)
			}
		}
		var rows int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM filled").Scan(&rows); err != nil || rows < 2 {
			t.Errorf("got %d rows, %v, want the first and the last at least", rows, err)
		}
	}, "--skip-log-bin")
}
