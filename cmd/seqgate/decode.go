package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/ops"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/vschema"
)

// declaredGenerators returns the generators of a configuration's or a vschema's file, of which one may be given.
func declaredGenerators(file, schema, layout string) (all []*vschema.Generator, err error) {
	var v *vschema.VSchema
	switch {
	case file != "" && schema != "", (file != "" || schema != "") && layout != "":
		return nil, ops.Usagef("give one of --config, --vschema and --layout")
	case file != "":
		cfg, err := app.Loader(os.Getenv).Load(file)
		if err != nil {
			return nil, err
		}
		v = cfg.VSchema
	case schema != "":
		if v, _, err = config.ReadVSchema(schema); err != nil {
			return nil, err
		}
	}
	if v == nil {
		return nil, nil
	}
	for _, k := range v.Keyspaces() {
		all = append(all, k.Generators()...)
	}
	return all, nil
}

func layoutNames() []string {
	var names []string
	for _, l := range snowflake.Presets() {
		names = append(names, l.Name)
	}
	return names
}

// parseID is [generate.ParseID] for an argument.
func parseID(text string) (int64, error) {
	id, ok := generate.ParseID(text)
	if !ok {
		return 0, ops.Usagef("%q is not an id: write a number from 1 to 2^63-1, decimal or after 0x", text)
	}
	return id, nil
}

// explained is an id as one layout sees it.
type explained struct {
	Layout    string    `json:"layout"`
	Generator string    `json:"generator,omitempty"` // of the vschema
	Time      time.Time `json:"time"`
	Zone      *int64    `json:"zone,omitempty"` // nil in a layout without
	Worker    int64     `json:"worker"`
	Sequence  int64     `json:"sequence"`
}

// explain decodes an id by the layout with this name, or by all that are plausible when it is empty.
func explain(id int64, name string, generators []*vschema.Generator, now time.Time) (list []explained, err error) {
	decoded, err := generate.Explain(id, generators, now)
	if err != nil {
		return nil, err
	}
	if name != "" {
		l, ok := snowflake.Preset(name)
		if !ok {
			return nil, ops.Usagef("no layout %q: there are %s", name, strings.Join(layoutNames(), ", "))
		}
		d, err := l.Decode(id)
		if err != nil {
			return nil, err
		}
		decoded = []generate.Explained{{Layout: l, Decoded: d}}
	}
	if len(decoded) == 0 {
		return nil, fmt.Errorf("no known layout gives %d a time between its epoch and tomorrow: it may be a sequence's, or of a layout of its own, which --vschema would name", id)
	}
	for _, d := range decoded {
		e := explained{Layout: d.Layout.Name, Generator: d.Generator, Time: d.Time.UTC(), Worker: d.Worker, Sequence: d.Sequence}
		if d.Layout.Bits(snowflake.Zone) > 0 {
			e.Zone = &d.Zone
		}
		list = append(list, e)
	}
	return list, nil
}
