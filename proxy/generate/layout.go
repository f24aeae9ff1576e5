package generate

import (
	"fmt"
	"strings"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/vschema"
)

// defaultUnit is that of a layout of bits.
const defaultUnit = time.Millisecond

// Layout returns the layout of a generator of type snowflake, and the zone of its ids. What is wrong with its params is a
// [*vschema.ParamError] of [Check]; this returns the first.
func Layout(g *vschema.Generator) (l snowflake.Layout, zone int64, err error) {
	l, zone, faults := layout(g)
	if len(faults) > 0 {
		return l, zone, fmt.Errorf("generator %s.%s: %w", g.Keyspace, g.Name, faults[0])
	}
	return l, zone, nil
}

// Check says what is wrong with the params of a generator when ids are to be made of them now, for [vschema.Loader].
func Check(g *vschema.Generator, now time.Time) []*vschema.ParamError {
	if g.Type != vschema.Snowflake {
		return nil
	}
	l, _, faults := layout(g)
	if l.Validate() != nil {
		return faults
	}
	if err := l.Check(now); err != nil {
		param := "epoch"
		if g.Snowflake.Epoch.IsZero() {
			param = "layout"
		}
		faults = append(faults, &vschema.ParamError{Param: param, Message: err.Error()})
	}
	if w := g.Snowflake.Worker; w != nil && *w > l.Max(snowflake.Worker) {
		faults = append(faults, tooLarge("worker", *w, l, snowflake.Worker))
	}
	return faults
}

func layout(g *vschema.Generator) (l snowflake.Layout, zone int64, faults []*vschema.ParamError) {
	p := g.Snowflake
	l = snowflake.Layout{Name: g.Name, Unit: defaultUnit}
	if p.Layout != "" {
		preset, ok := snowflake.Preset(p.Layout)
		if !ok {
			return l, 0, []*vschema.ParamError{{Param: "layout",
				Message: fmt.Sprintf("there is no layout %q: %s, or give the bits", p.Layout, vschema.Suggest(p.Layout, PresetNames()))}}
		}
		l = preset
	}
	for i, b := range p.Bits {
		l.Fields[i] = snowflake.Field{Name: b.Name, Bits: b.Bits}
	}
	if p.Unit > 0 {
		l.Unit = p.Unit
	}
	if !p.Epoch.IsZero() {
		l.Epoch = p.Epoch.UnixMilli()
	}
	if p.Start != "" {
		l.Start.Random = p.Start == "random"
	}
	if p.StartBound > 0 {
		l.Start.Bound = p.StartBound
	}
	if err := l.Validate(); err != nil {
		return l, 0, []*vschema.ParamError{{Message: err.Error()}}
	}
	switch {
	case p.ZoneName != "":
		zone = l.HashZone(p.ZoneName)
	case p.Zone != nil:
		zone = *p.Zone
	}
	if given := p.ZoneName != "" || p.Zone != nil; given && l.Bits(snowflake.Zone) == 0 {
		faults = append(faults, &vschema.ParamError{Param: "zone", Message: fmt.Sprintf("layout %q has no zone: leave it out", l.Name)})
	} else if zone > l.Max(snowflake.Zone) {
		faults = append(faults, tooLarge("zone", zone, l, snowflake.Zone))
	}
	return l, zone, faults
}

func tooLarge(param string, value int64, l snowflake.Layout, field string) *vschema.ParamError {
	return &vschema.ParamError{Param: param, Message: fmt.Sprintf("%s %d: layout %q has 0 to %d", param, value, l.Name, l.Max(field))}
}

// PresetNames are the layouts that have a name, for messages.
func PresetNames() []string {
	var names []string
	for _, l := range snowflake.Presets() {
		names = append(names, l.Name)
	}
	return names
}

// MaxID returns the largest id of a layout.
func MaxID(l snowflake.Layout) int64 {
	bits := 0
	for _, f := range l.Fields {
		bits += f.Bits
	}
	return 1<<bits - 1
}

// LongestRun returns how many ids that follow each other a layout can promise: 1 where its lowest bits are not the sequence.
func LongestRun(l snowflake.Layout) int64 {
	lowest := ""
	for _, f := range l.Fields {
		if f.Bits > 0 {
			lowest = f.Name
		}
	}
	if lowest != snowflake.Sequence {
		return 1
	}
	return 1 << l.Bits(snowflake.Sequence)
}

// Describe returns a layout in a few words, as "41 bits of 1ms since 2026-01-01, 10 worker, 12 sequence".
func Describe(l snowflake.Layout) string {
	var parts []string
	for _, f := range l.Fields {
		switch {
		case f.Bits == 0:
		case f.Name == snowflake.Time:
			parts = append(parts, fmt.Sprintf("%d bits of %v since %s", f.Bits, l.Unit, time.UnixMilli(l.Epoch).UTC().Format(time.DateOnly)))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", f.Bits, f.Name))
		}
	}
	return strings.Join(parts, ", ")
}
