package vschema

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// generator reads one of a keyspace's "generators".
func (d *decoder) generator(name string, n *node) {
	g := &Generator{Keyspace: d.current.Name, Name: name}
	d.current.generators[name] = g
	var params *node
	d.object(n, fields{
		"type":   func(n *node) { g.Type = GeneratorType(d.oneOf(n, generatorTypes()...)) },
		"params": func(n *node) { params = n },
	})
	obj, ok := n.value.(object)
	if ok && obj.get("type") == nil {
		d.fail(n, `the key "type" is missing: write "type": "snowflake" or another`)
	}
	if !ok || g.Type == "" || !slices.Contains(generatorTypes(), string(g.Type)) {
		return
	}
	before := len(d.errs)
	if params == nil {
		params = &node{value: object{}, offset: n.offset, path: n.path}
	}
	d.generatorParams(g, params)
	if len(d.errs) == before && d.checkGenerator != nil {
		for _, fault := range d.checkGenerator(g) {
			at := params
			if obj, ok := params.value.(object); ok && obj.get(fault.Param) != nil {
				at = obj.get(fault.Param)
			}
			d.fail(at, "%s", fault.Message)
		}
	}
}

// generatorParams reads the params of a generator by its type.
func (d *decoder) generatorParams(g *Generator, n *node) {
	switch g.Type {
	case Snowflake:
		g.Snowflake = &SnowflakeParams{}
		d.snowflakeParams(g.Snowflake, n)
	case Redis:
		g.Segments = &SegmentParams{}
		d.redisParams(g, n)
	case Leaf:
		g.Segments = &SegmentParams{Table: "leaf_alloc"}
		d.rowParams(g, n, "biz_tag")
	case TinyID:
		g.Segments = &SegmentParams{Table: "tiny_id_info"}
		d.rowParams(g, n, "biz_type")
	default:
		d.eachMember(n, snakeCase, func(m *member, _ string) {
			d.failAt(m.offset, m.value.path, "a %s has no params: leave the key out", g.Type)
		})
	}
}

func (d *decoder) snowflakeParams(p *SnowflakeParams, n *node) {
	d.object(n, fields{
		"layout":      func(n *node) { p.Layout = d.name(n) },
		"bits":        func(n *node) { p.Bits = d.bits(n) },
		"unit":        func(n *node) { p.Unit = d.duration(n) },
		"epoch":       func(n *node) { p.Epoch = d.epoch(n) },
		"start":       func(n *node) { p.Start = d.oneOf(n, "continue", "random") },
		"start_bound": func(n *node) { p.StartBound = d.count(n, 2) },
		"worker":      func(n *node) { p.Worker = new(d.count(n, 0)) },
		"zone":        func(n *node) { d.zone(p, n) },
		"max_borrow":  func(n *node) { p.MaxBorrow = d.duration(n) },
	})
	obj, ok := n.value.(object)
	switch {
	case !ok:
	case !obj.has("layout") && !obj.has("bits"):
		d.fail(n, `a snowflake needs a layout: write "layout": "twitter" or another in its params, or "bits"`)
	case obj.has("layout") && obj.has("bits"):
		d.fail(obj.get("bits"), "the layout %q has bits of its own: leave one out", p.Layout)
	case obj.has("layout") && obj.has("unit"):
		d.fail(obj.get("unit"), `the layout %q has a unit of its own: leave it out, or write "bits" in place of the layout`, p.Layout)
	case obj.has("bits") && !obj.has("epoch"):
		d.fail(n, `the key "epoch" is missing: write "epoch": "2026-01-01" or whenever the first id is given, and never change it`)
	}
}

// The widths that an id may have: that of a positive BIGINT, and that of a number in JavaScript.
const (
	fullBits = 63
	jsBits   = 53
)

// bits reads the parts of an id in the order in which they are written, the highest first.
func (d *decoder) bits(n *node) (parts []BitField) {
	sum := 0
	before := len(d.errs)
	d.names(n, "part of an id", func(name string, n *node) {
		if !isBitField(name) {
			d.fail(n, "unknown key: %s", Suggest(name, []string{"time", "zone", "worker", "sequence"}))
			return
		}
		width := int(min(d.count(n, 1), fullBits+1))
		parts = append(parts, BitField{name, width})
		sum += width
	})
	if len(d.errs) > before {
		return parts
	}
	for _, name := range []string{"time", "worker", "sequence"} {
		if !slices.ContainsFunc(parts, func(p BitField) bool { return p.Name == name }) {
			d.fail(n, "the key %q is missing: an id needs time, worker and sequence", name)
		}
	}
	switch {
	case sum != fullBits && sum != jsBits:
		d.fail(n, "these are %d bits: write %d in all, or %d for ids that JavaScript can hold", sum, fullBits, jsBits)
	case parts[0].Name != "time":
		d.fail(n, `ids would not increase: write "time" first, as it has the highest bits`)
	}
	return parts
}

func (d *decoder) zone(p *SnowflakeParams, n *node) {
	if _, ok := n.value.(string); ok {
		p.ZoneName = d.name(n)
		return
	}
	p.Zone = new(d.count(n, 0))
}

func (d *decoder) redisParams(g *Generator, n *node) {
	p := g.Segments
	d.object(n, fields{
		"url":     func(n *node) { p.URL = d.name(n) },
		"url_env": func(n *node) { p.URLEnv = d.name(n) },
		"key": func(n *node) {
			p.Key = d.name(n)
			d.counters = append(d.counters, counterRef{g, n})
		},
		"step":        func(n *node) { p.Step = d.count(n, 1) },
		"time_prefix": func(n *node) { p.TimePrefix = d.oneOf(n, "day", "hour") },
		"digits":      func(n *node) { p.Digits = d.count(n, 1) },
		"guard": func(n *node) {
			if s := d.name(n); s != "" {
				d.guards = append(d.guards, guardRef{g, d.current, s, n})
			}
		},
	})
	obj, ok := n.value.(object)
	if !ok {
		return
	}
	if obj.get("url") == nil && obj.get("url_env") == nil || obj.get("url") != nil && obj.get("url_env") != nil {
		d.fail(n, `write one of "url": "redis://host:6379/0" and "url_env": "NAME" of an environment variable that has it`)
	}
	d.require(n, "key", `write "key": "NAME" of the counter in Redis`)
	d.require(n, "guard", `write "guard": "SEQUENCE", a table of "type": "sequence" by which it is noticed that the counter of Redis went back`)
	d.timePrefix(p, n, obj)
	if p.Step == 0 {
		p.Step = min(redisStep, p.counts())
	}
}

// redisStep is the step of a Redis counter for which none is given.
const redisStep = 1000

// prefixedDigits is how many digits an id with a time prefix has at most: all numbers of so many are BIGINTs.
const prefixedDigits = 18

// timePrefix checks the time prefix, and what goes with it only.
func (d *decoder) timePrefix(p *SegmentParams, n *node, obj object) {
	prefix, digits, step := obj.get("time_prefix"), obj.get("digits"), obj.get("step")
	most := map[string]int64{"day": prefixedDigits - 8, "hour": prefixedDigits - 10}[p.TimePrefix]
	switch {
	case prefix == nil && digits == nil:
	case prefix == nil:
		d.fail(digits, `the digits are of the count behind a time: write "time_prefix": "day" or "hour" too`)
	case digits == nil:
		d.fail(prefix, `the key "digits" is missing: write "digits": 6 or how many the count of one %s has, and never change it`, p.TimePrefix)
	case most > 0 && p.Digits > most:
		d.fail(digits, "the ids would not fit a BIGINT: write %d digits at most behind the %s", most, p.TimePrefix)
	case step != nil && p.Step > p.counts():
		d.fail(step, "a block of %d is more than a tenth of what %d digits count to: write %d at most", p.Step, p.Digits, p.counts())
	}
}

// counts is how many ids one block of a Redis counter may have: with a time prefix a tenth of a period's.
func (p *SegmentParams) counts() int64 {
	if p.TimePrefix == "" || p.Digits < 1 || p.Digits > prefixedDigits {
		return math.MaxInt64
	}
	counts := int64(1)
	for range p.Digits - 1 {
		counts *= 10
	}
	return counts
}

// rowParams reads the params of a generator that takes segments of a row, which the tag of that name chooses.
func (d *decoder) rowParams(g *Generator, n *node, tag string) {
	d.object(n, fields{
		"table": func(n *node) { g.Segments.Table = d.name(n) },
		tag:     func(n *node) { g.Segments.Key = d.name(n) },
	})
	d.require(n, tag, `write "`+tag+`": "TAG" of the row`)
	if d.current.Sharded {
		d.fail(n, "the table %s is on one server: declare the generator in an unsharded keyspace", g.Segments.Table)
	}
}

// require fails for an object that lacks the key.
func (d *decoder) require(n *node, key, advice string) {
	if obj, ok := n.value.(object); ok && obj.get(key) == nil {
		d.fail(n, "the key %q is missing: %s", key, advice)
	}
}

// count reads a whole number of at least least.
func (d *decoder) count(n *node, least int64) int64 {
	number, ok := n.value.(json.Number)
	v, err := strconv.ParseInt(number.String(), 10, 64)
	if !ok || err != nil || v < least {
		d.wrongType(n, "a whole number of at least "+strconv.FormatInt(least, 10))
		return least
	}
	return v
}

// duration reads a duration as Go writes it; it must not be 0.
func (d *decoder) duration(n *node) time.Duration {
	v, err := time.ParseDuration(d.string(n))
	if _, ok := n.value.(string); ok && (err != nil || v <= 0) {
		d.fail(n, `%q is no duration: write a number and a unit, such as "10ms" or "1s"`, n.value)
	}
	return v
}

// epoch reads a day, a time of RFC 3339, or milliseconds since 1970.
func (d *decoder) epoch(n *node) time.Time {
	if number, ok := n.value.(json.Number); ok {
		if ms, err := number.Int64(); err == nil && ms > 0 {
			return time.UnixMilli(ms).UTC()
		}
	}
	text, _ := n.value.(string)
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil && t.UnixMilli() >= 0 {
			return t.UTC()
		}
	}
	d.wrongType(n, `a day such as "2026-01-01", a time such as "2026-01-01T12:00:00Z" or milliseconds since 1970`)
	return time.Time{}
}
