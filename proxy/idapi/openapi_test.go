package idapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// document is what the test reads of openapi.yaml.
type document struct {
	OpenAPI string
	Paths   map[string]struct {
		Parameters []struct{ Name, In string }
		Get, Post  *operation
	}
	Components struct {
		SecuritySchemes, Headers, Responses map[string]any
		Schemas                             map[string]struct {
			Required   []string
			Properties map[string]struct{ Enum []string }
		}
	}
}

type operation struct {
	OperationID string `yaml:"operationId"`
	Security    *[]any
	Responses   map[string]any
}

func readDocument(t *testing.T) (d document) {
	t.Helper()
	if err := yaml.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	if d.OpenAPI != "3.1.0" || len(d.Paths) == 0 {
		t.Fatalf("this is not OpenAPI 3.1: version %q, %d paths", d.OpenAPI, len(d.Paths))
	}
	return d
}

// What is described is served, and the other way round.
func TestDescribedPaths(t *testing.T) {
	d := readDocument(t)
	served, described := map[string]bool{}, map[string]bool{}
	ids := map[string]int{}
	for _, r := range routes {
		for _, m := range r.methods {
			served[m+" "+r.path+open(r.open)] = true
		}
	}
	for path, item := range d.Paths {
		for method, op := range map[string]*operation{http.MethodGet: item.Get, http.MethodPost: item.Post} {
			if op != nil {
				described[method+" "+path+open(op.Security != nil && len(*op.Security) == 0)] = true
				ids[op.OperationID]++
			}
		}
		for _, name := range pathNames(path) {
			if !slices.ContainsFunc(item.Parameters, func(p struct{ Name, In string }) bool { return p.Name == name && p.In == "path" }) {
				t.Errorf("%s: the part {%s} is not described", path, name)
			}
		}
	}
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("paths (-served +described)\n%s", diff)
	}
	for id, n := range ids {
		if id == "" || n != 1 {
			t.Errorf("operationId %q is of %d operations", id, n)
		}
	}
}

func open(is bool) string {
	if is {
		return " without a token"
	}
	return ""
}

func pathNames(path string) (names []string) {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// The described parameters are those that are read.
func TestDescribedParameters(t *testing.T) {
	h := New(Config{})
	for _, p := range readDocument(t).Paths["/api/v1/sequences/{name}/next"].Parameters {
		if p.In != "query" {
			continue
		}
		q := httptest.NewRequest(http.MethodGet, "/?"+p.Name+"=1", nil)
		if _, err := h.nextParams(q); err != nil {
			t.Errorf("parameter %s is described and not read: %v", p.Name, err)
		}
	}
}

func TestDescribedFields(t *testing.T) {
	d := readDocument(t)
	for schema, of := range map[string]reflect.Type{
		"Next": reflect.TypeFor[nextAnswer](), "Error": reflect.TypeFor[errorAnswer](), "ErrorDetail": reflect.TypeFor[errorDetail](),
	} {
		var fields, required []string
		for i := range of.NumField() {
			name, option, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
			if option != "omitempty" {
				required = append(required, name)
			}
		}
		got := d.Components.Schemas[schema]
		if diff := cmp.Diff(sorted(fields), slices.Sorted(maps.Keys(got.Properties))); diff != "" {
			t.Errorf("%s: fields (-answered +described)\n%s", schema, diff)
		}
		if diff := cmp.Diff(sorted(required), sorted(got.Required)); diff != "" {
			t.Errorf("%s: required (-answered +described)\n%s", schema, diff)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(codes)), sorted(d.Components.Schemas["ErrorDetail"].Properties["code"].Enum)); diff != "" {
		t.Errorf("codes (-answered +described)\n%s", diff)
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// Every status that a code has is described at the path of ids, and no other.
func TestDescribedStatuses(t *testing.T) {
	want := map[string]bool{"200": true}
	for _, status := range codes {
		want[strconv.Itoa(status)] = true
	}
	got := map[string]bool{}
	for status := range readDocument(t).Paths["/api/v1/sequences/{name}/next"].Get.Responses {
		got[status] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-answered +described)\n%s", diff)
	}
}

// Each $ref leads somewhere.
func TestDescribedReferences(t *testing.T) {
	var root any
	if err := yaml.Unmarshal(description, &root); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(node any)
	walk = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			if ref, ok := node["$ref"].(string); ok {
				n++
				at := root
				for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					below, _ := at.(map[string]any)
					at = below[part]
				}
				if at == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, child := range node {
				walk(child)
			}
		case []any:
			for _, child := range node {
				walk(child)
			}
		}
	}
	walk(root)
	if n == 0 {
		t.Error("there is no $ref: the test looks at nothing")
	}
}

// The description is served to everybody, and docs/ has the same.
func TestDescriptionServed(t *testing.T) {
	h := New(Config{})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.yaml", nil))
	inDocs, err := os.ReadFile("../../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusOK || w.Body.String() != string(inDocs) {
		t.Errorf("%d: %d bytes are served, docs/openapi.yaml has %d", w.Code, w.Body.Len(), len(inDocs))
	}
}

// Every fault that this package makes has a code of the list, with its status.
func TestCodes(t *testing.T) {
	h := New(Config{})
	for _, path := range []string{"/nothing", "/api/v1/openapi.yaml"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, path, nil))
		var got errorAnswer
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if codes[got.Error.Code] != w.Code {
			t.Errorf("%s: code %q with status %d", path, got.Error.Code, w.Code)
		}
	}
}
