package sequence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// The arrival of a stripe may be repeated and may come late: a server that has passed the stripe on does not take it again.
func TestStripeArrivesOnce(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		db, err := OpenPool(s.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		layout := StripeLayout{Stripes: 2, Chunk: 10}
		server, q := &stripeServer{name: "here", db: db}, Request{Database: s.NewDatabase(t), Table: "s", Row: 1}
		arrive := func(next int64) error { return server.arrive(t.Context(), q, stripeRow{id: -1, row: row{next, 7}}) }
		leave := func() error {
			_, err := server.leave(t.Context(), q, "there")
			return err
		}
		for _, step := range []struct {
			name string
			do   func() error
			want []stripeRow
		}{
			{"create", func() error { return server.create(t.Context(), layout, q) }, nil},
			{"create again", func() error { return server.create(t.Context(), layout, q) }, nil},
			{"arrive", func() error { return arrive(5) }, []stripeRow{{1, row{5, 7}, ""}}},
			{"arrive again", func() error { return arrive(5) }, []stripeRow{{1, row{5, 7}, ""}}},
			{"leave at once", leave, []stripeRow{{-1, row{6, 7}, "there"}}},
			{"arrive late", func() error { return arrive(5) }, []stripeRow{{-1, row{6, 7}, "there"}}},
			{"noted", func() error { return server.arrived(t.Context(), q, stripeRow{id: -1, row: row{6, 7}}) }, []stripeRow{{-1, row{6, 7}, ""}}},
			{"come back", func() error { return arrive(7) }, []stripeRow{{-1, row{6, 7}, ""}, {1, row{7, 7}, ""}}},
			{"leave again", leave, []stripeRow{{-1, row{8, 7}, "there"}}},
			{"noted late", func() error { return server.arrived(t.Context(), q, stripeRow{id: -1, row: row{6, 7}}) }, []stripeRow{{-1, row{8, 7}, "there"}}},
			{"arrive late again", func() error { return arrive(7) }, []stripeRow{{-1, row{8, 7}, "there"}}},
		} {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			got, err := server.stripes(t.Context(), layout, q)
			if err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			if diff := cmp.Diff(step.want, got, cmp.AllowUnexported(stripeRow{}, row{})); diff != "" {
				t.Errorf("%s: rows (-want +got):\n%s", step.name, diff)
			}
		}
		if err := leave(); err == nil {
			t.Error("leave without the stripe: no error, want one")
		}
	})
}

func TestSurveyPending(t *testing.T) {
	a, b, c := &stripeServer{name: "a"}, &stripeServer{name: "b"}, &stripeServer{name: "c"}
	left := func(server *stripeServer, next int64, to string) surveyRow {
		return surveyRow{server, stripeRow{-3, row{next, 1}, to}}
	}
	for _, tt := range []struct {
		name string
		v    survey
		want string // the server that left the stripe behind last
	}{
		{"nothing", nil, ""},
		{"on its way", survey{left(a, 5, "b")}, "a"},
		{"at its new server", survey{left(a, 5, "b"), {b, stripeRow{3, row{5, 1}, ""}}}, ""},
		{"the new server did not answer", survey{left(a, 5, "")}, ""},
		{"on its way from the second", survey{left(a, 5, "b"), left(b, 9, "c")}, "b"},
		{"the third did not answer", survey{left(b, 9, ""), left(a, 5, "b")}, ""},
		{"back", survey{left(a, 5, "b"), left(b, 9, "a"), {a, stripeRow{3, row{9, 1}, ""}}}, ""},
		{"another stripe", survey{left(a, 5, "b"), {c, stripeRow{4, row{5, 1}, ""}}}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if r, ok := tt.v.pending()[3]; ok {
				got = r.server.name
			}
			if got != tt.want {
				t.Errorf("got server %q, want %q", got, tt.want)
			}
		})
	}
}
