package idapi_test

import (
	"net/http"
	"testing"

	"github.com/seqgate/seqgate/vschema"
)

// Requests are answered while another vschema is taken over, which lacks what the one before had.
func TestVSchemaTakenOver(t *testing.T) {
	f := newFixture(t, options{})
	full, err := vschema.Load("vschema.json", []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	small, err := vschema.Load("vschema.json", []byte(`{"keyspaces": {"main": {"tables": {"user_seq": {"type": "sequence"}}}, "other": {}}}`))
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := f.proxy.SetVSchema([]*vschema.VSchema{small, full}[i%2]); err != nil {
				t.Error(err)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	for range 10_000 { // of which some came in between, as it was
		w := f.request(http.MethodGet, "/api/snowflake/get/x", secret)
		if w.Code != http.StatusOK && w.Code != http.StatusInternalServerError {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}
