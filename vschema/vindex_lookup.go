package vschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// lookupType is a type of vindexes that look the keyspace id up in a table: this version reads and checks them only.
type lookupType struct {
	unique bool
}

// lookupTypes are Vitess's, without lookup_cost, which is for its tests.
func lookupTypes() map[string]vindexType {
	shared := []string{"table", "from", "to", "ignore_nulls", "batch_lookup", "read_lock", "write_only"}
	plain := slices.Concat(shared, []string{"autocommit", "multi_shard_autocommit"})
	verified := slices.Concat(plain, []string{"no_verify"})
	return map[string]vindexType{
		"lookup":                             {lookup: &lookupType{}, params: verified},
		"lookup_unique":                      {lookup: &lookupType{unique: true}, params: verified},
		"lookup_hash":                        {lookup: &lookupType{}, params: plain},
		"lookup_hash_unique":                 {lookup: &lookupType{unique: true}, params: plain},
		"lookup_unicodeloosemd5_hash":        {lookup: &lookupType{}, params: plain},
		"lookup_unicodeloosemd5_hash_unique": {lookup: &lookupType{unique: true}, params: plain},
		"consistent_lookup":                  {lookup: &lookupType{}, params: shared},
		"consistent_lookup_unique":           {lookup: &lookupType{unique: true}, params: shared},
	}
}

// checkLookup checks the params of a lookup vindex.
func (p vindexParams) checkLookup() error {
	var errs []error
	for _, param := range []struct{ name, example string }{{"table", "main.users_by_email"}, {"from", "email"}, {"to", "keyspace_id"}} {
		value, err := p.required(param.name, param.example)
		if err == nil && value == "" {
			err = &ParamError{param.name, fmt.Sprintf("an empty name: write one, such as %q", param.example)}
		}
		errs = append(errs, err)
	}
	for _, name := range []string{"ignore_nulls", "batch_lookup", "write_only", "autocommit", "multi_shard_autocommit", "no_verify"} {
		if value, ok := p.values[name]; ok && value != "true" && value != "false" {
			errs = append(errs, &ParamError{name, fmt.Sprintf(`write "true" or "false", not %q`, value)})
		}
	}
	if lock, ok := p.values["read_lock"]; ok && !slices.Contains(readLocks, lock) {
		errs = append(errs, &ParamError{"read_lock", fmt.Sprintf("unknown lock %q: %s", lock, Suggest(lock, readLocks))})
	}
	return errors.Join(errs...)
}

var readLocks = []string{"exclusive", "shared", "none"}

// lookupColumns is how many columns a lookup vindex takes.
func (p vindexParams) lookupColumns() int { return 1 + strings.Count(p.values["from"], ",") }
