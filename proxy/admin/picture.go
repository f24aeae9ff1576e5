package admin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seqgate/seqgate/vschema"
)

// Server is a shard of a keyspace, and where it is. The shard is "-" of an unsharded keyspace.
type Server struct {
	Keyspace, Shard, Addr, Database string
}

// maxDrawn bounds the tables that are drawn of a keyspace.
const maxDrawn = 200

// The measures of the picture, in its own units: about a pixel on a screen as wide as it.
const (
	pictureWidth            = 820
	boxLeft, boxWidth       = 10, 460
	sourceLeft, sourceWidth = 570, 240
	rowHeight, headHeight   = 24, 34
	chipHeight, chipGap     = 20, 6
	gap                     = 18
	letter                  = 7 // the width of one, about
)

// picture is the vschema as it is drawn: keyspaces with their shards and tables on the left, the sequences and generators
// that fill their columns on the right, and lines from each column to what fills it.
type picture struct {
	Width, Height int
	Boxes         []pictureBox
	Lines         []pictureLine
}

// pictureBox is a keyspace, or a sequence or generator, whose Rows are empty.
type pictureBox struct {
	X, Y, W, H   int
	Name, Detail string
	Kind         string // keyspace, sequence, generator
	Chips        []pictureChip
	Rows         []pictureRow
}

// pictureChip is a shard.
type pictureChip struct {
	X, Y, W, H int
	Name       string
}

// pictureRow is a table.
type pictureRow struct {
	X, Y, W            int
	Name, Kind, Column string // Column is the one that is filled, with its source
	source             sourceName
}

// Right is where the row ends.
func (r pictureRow) Right() int { return r.X + r.W }

// Right is where the text of the box ends.
func (b pictureBox) Right() int { return b.X + b.W - 12 }

// pictureLine is from a table's column to what fills it.
type pictureLine struct{ D string }

// sourceName is what fills columns.
type sourceName struct{ keyspace, name, kind string }

// draw lays out a vschema. Keyspaces that it does not name are drawn too, with their shards.
func draw(v *vschema.VSchema, servers []Server) picture {
	p := picture{Width: pictureWidth}
	y := gap
	for _, name := range keyspacesOf(v, servers) {
		box := drawKeyspace(v, name, servers, y)
		p.Boxes = append(p.Boxes, box)
		y += box.H + gap
	}
	left := y
	y = gap
	places := map[sourceName]int{}
	for _, box := range p.Boxes[:len(p.Boxes):len(p.Boxes)] {
		for _, row := range box.Rows {
			if row.source.name == "" {
				continue
			}
			if _, ok := places[row.source]; !ok {
				s := drawSource(row.source, y)
				p.Boxes = append(p.Boxes, s)
				places[row.source] = s.Y + s.H/2
				y += s.H + gap
			}
			p.Lines = append(p.Lines, newLine(row, places[row.source]))
		}
	}
	p.Height = max(left, y)
	return p
}

// keyspacesOf are those with servers, in the servers' order, and others of the vschema after them.
func keyspacesOf(v *vschema.VSchema, servers []Server) (names []string) {
	for _, s := range servers {
		names = append(names, s.Keyspace)
	}
	names = slices.Compact(names)
	if v == nil {
		return names
	}
	for _, k := range v.Keyspaces() {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

func drawKeyspace(v *vschema.VSchema, name string, servers []Server, y int) pictureBox {
	box := pictureBox{X: boxLeft, Y: y, W: boxWidth, Name: shorten(name, 36), Detail: "unsharded", Kind: "keyspace"}
	y += headHeight
	box.Chips, y = drawChips(name, servers, y)
	var k *vschema.Keyspace
	if v != nil {
		k, _ = v.Keyspace(name)
	}
	if k != nil && k.Sharded {
		box.Detail = fmt.Sprintf("sharded, %d shards", len(box.Chips))
	}
	if k != nil {
		box.Rows, y = drawRows(k, y)
	}
	box.H = y - box.Y + chipGap
	return box
}

// drawChips lays out the shards in lines, and returns where the next thing goes.
func drawChips(keyspace string, servers []Server, y int) (chips []pictureChip, below int) {
	x := boxLeft + 12
	for _, s := range servers {
		if s.Keyspace != keyspace {
			continue
		}
		w := min(letter*len([]rune(s.Shard))+20, boxWidth-24)
		if x+w > boxLeft+boxWidth-12 {
			x, y = boxLeft+12, y+chipHeight+chipGap
		}
		chips = append(chips, pictureChip{X: x, Y: y, W: w, H: chipHeight, Name: shorten(s.Shard, 56)})
		x += w + chipGap
	}
	if chips == nil {
		return nil, y
	}
	return chips, y + chipHeight + chipGap
}

// drawRows lays out the tables but the sequences, which stand where they fill something.
func drawRows(k *vschema.Keyspace, y int) (rows []pictureRow, below int) {
	more := 0
	for _, t := range k.Tables() {
		switch {
		case t.Type == vschema.Sequence:
		case len(rows) >= maxDrawn:
			more++
		default:
			row := pictureRow{X: boxLeft + 12, Y: y, W: boxWidth - 24, Name: shorten(t.Name, 24), Kind: kindOf(t)}
			row.Column, row.source = filledBy(t)
			rows = append(rows, row)
			y += rowHeight
		}
	}
	if more > 0 {
		rows = append(rows, pictureRow{X: boxLeft + 12, Y: y, W: boxWidth - 24, Name: fmt.Sprintf("and %d more", more)})
		y += rowHeight
	}
	return rows, y
}

// kindOf says where a table's rows are.
func kindOf(t *vschema.Table) string {
	switch {
	case t.Type != vschema.Ordinary:
		return string(t.Type)
	case t.Pinned != nil:
		return "pinned"
	case len(t.ColumnVindexes) > 0:
		primary := t.ColumnVindexes[0]
		return shorten(fmt.Sprintf("%s(%s)", primary.Name, join(primary.Columns)), 20)
	}
	return ""
}

func join(names []string) (text string) {
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// filledBy returns the column of a table that is filled, and from what.
func filledBy(t *vschema.Table) (column string, from sourceName) {
	a := t.AutoIncrement
	switch {
	case a == nil:
		return "", sourceName{}
	case a.Generator != nil:
		from = sourceName{a.Generator.Keyspace, a.Generator.Name, string(a.Generator.Type)}
	default:
		from = sourceName{a.SequenceKeyspace, a.SequenceTable, "sequence"}
	}
	column = a.Column
	if a.Key != "" {
		column += " by " + a.Key
	}
	return shorten(column, 18), from
}

func drawSource(s sourceName, y int) pictureBox {
	kind := "generator"
	if s.kind == "sequence" {
		kind = "sequence"
	}
	return pictureBox{X: sourceLeft, Y: y, W: sourceWidth, H: 46, Name: shorten(s.keyspace+"."+s.name, 28), Detail: s.kind, Kind: kind}
}

// newLine leads from the end of a row to a source whose middle is at y.
func newLine(row pictureRow, y int) pictureLine {
	x1, y1, x2 := row.Right(), row.Y+rowHeight/2, sourceLeft
	middle := (x1 + x2) / 2
	return pictureLine{D: fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1, middle, y1, middle, y, x2, y)}
}

// shorten cuts a text that has no room.
func shorten(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// vindexRow is a vindex of a keyspace, and tableRow a table, for the tables below the picture.
type vindexRow struct{ Keyspace, Name, Type, Params, Owner string }

type tableRow struct{ Keyspace, Name, Kind, Column, Source, Vindexes string }

// tablesOf lists what the vschema says of tables.
func tablesOf(v *vschema.VSchema) (rows []tableRow) {
	if v == nil {
		return nil
	}
	for _, k := range v.Keyspaces() {
		for _, t := range k.Tables() {
			row := tableRow{Keyspace: k.Name, Name: t.Name, Kind: cmp.Or(string(t.Type), "table")}
			if t.Pinned != nil {
				row.Kind = fmt.Sprintf("pinned to %x", []byte(t.Pinned))
			}
			if column, from := filledBy(t); from.name != "" {
				row.Column, row.Source = column, from.keyspace+"."+from.name
			}
			for i, c := range t.ColumnVindexes {
				if i > 0 {
					row.Vindexes += ", "
				}
				row.Vindexes += c.Name + "(" + join(c.Columns) + ")"
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// vindexesOf lists the vindexes.
func vindexesOf(v *vschema.VSchema) (rows []vindexRow) {
	if v == nil {
		return nil
	}
	for _, k := range v.Keyspaces() {
		for _, x := range k.Vindexes() {
			row := vindexRow{Keyspace: k.Name, Name: x.Name, Type: x.Type, Owner: x.Owner}
			for i, name := range slices.Sorted(maps.Keys(x.Params)) {
				if i > 0 {
					row.Params += ", "
				}
				row.Params += name + "=" + x.Params[name]
			}
			rows = append(rows, row)
		}
	}
	return rows
}
