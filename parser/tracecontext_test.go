package parser_test

import (
	"testing"

	"github.com/seqgate/seqgate/parser"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestTraceContext(t *testing.T) {
	for _, test := range []struct{ name, sql, parent, state string }{
		{"none", "SELECT 1", "", ""},
		{"leading", "/*traceparent='" + traceparent + "'*/ SELECT 1", traceparent, ""},
		{"leading, with spaces", " /* traceparent='" + traceparent + "' , tracestate='a%3D1%2Cb%3D2' */SELECT 1", traceparent, "a=1,b=2"},
		{"trailing", "SELECT 1 /*action='x',traceparent='" + traceparent + "'*/;\n", traceparent, ""},
		{"behind another leading one", "/* app */ SELECT 1 /*traceparent='" + traceparent + "'*/", traceparent, ""},
		{"in the middle", "SELECT /*traceparent='" + traceparent + "'*/ 1", "", ""},
		{"not closed", "/*traceparent='" + traceparent + "'", "", ""},
		{"no quotes", "/*traceparent=" + traceparent + "*/ SELECT 1", "", ""},
		{"badly encoded", "/*traceparent='%zz'*/ SELECT 1", "", ""},
		{"another key", "/*xtraceparent='" + traceparent + "'*/ SELECT 1", "", ""},
		{"nothing but a slash and a star", "/*/", "", ""},
		{"empty", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			parent, state := parser.TraceContext([]byte(test.sql))
			if parent != test.parent || state != test.state {
				t.Errorf("TraceContext(%q) = %q, %q; want %q, %q", test.sql, parent, state, test.parent, test.state)
			}
		})
	}
}

func FuzzTraceContext(f *testing.F) {
	f.Add([]byte("/*traceparent='" + traceparent + "'*/ SELECT 1"))
	f.Add([]byte("SELECT 1 /*traceparent='" + traceparent + "',tracestate='a%3D1'*/;"))
	f.Add([]byte("/*/"))
	f.Fuzz(func(t *testing.T, sql []byte) {
		if parent, state := parser.TraceContext(sql); len(parent)+len(state) > len(sql) {
			t.Errorf("%q says more than it holds: %q, %q", sql, parent, state)
		}
	})
}
