package wiretest

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// compare tells the first difference between two traces of a case in words, "" for none: the step, the packet, and both
// sides' packets from there on.
func compare(direct, through []exchange) string {
	for i := range max(len(direct), len(through)) {
		var d, s exchange
		if i < len(direct) {
			d = direct[i]
		}
		if i < len(through) {
			s = through[i]
		}
		if text := d.compare(s); text != "" {
			return fmt.Sprintf("step %d, %s%s", i, d.label, text)
		}
	}
	return ""
}

// shown is how many packets from a difference on are printed.
const shown = 4

func (d exchange) compare(s exchange) string {
	at := 0
	for at < min(len(d.packets), len(s.packets)) && d.packets[at] == s.packets[at] {
		at++
	}
	if at == len(d.packets) && at == len(s.packets) && d.end == s.end && d.label == s.label {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, ", packet %d:\n", at)
	for _, side := range []struct {
		name string
		e    exchange
	}{{"direct ", d}, {"seqgate", s}} {
		for i := at; i < min(len(side.e.packets), at+shown); i++ {
			fmt.Fprintf(&b, "  %s %d: %s\n", side.name, i, side.e.packets[i])
		}
		switch left := len(side.e.packets) - at - shown; {
		case left > 0:
			fmt.Fprintf(&b, "  %s and %d more\n", side.name, left)
		case side.e.end != "":
			fmt.Fprintf(&b, "  %s %s\n", side.name, side.e.end)
		default:
			fmt.Fprintf(&b, "  %s end of the answer\n", side.name)
		}
	}
	return b.String()
}

// String tells what the packet says where that is plain, and shows its bytes.
func (p recorded) String() string {
	head, cut := p.head, ""
	if len(head) > 100 {
		head, cut = head[:100], "..."
	}
	return fmt.Sprintf("seq %d, %d bytes, %s%q%s %x", p.sequence, p.size, p.meaning(), head, cut, p.sum)
}

func (p recorded) meaning() string {
	b := []byte(p.head)
	switch {
	case len(b) >= 9 && b[0] == 0xff:
		return fmt.Sprintf("ERR %d ", binary.LittleEndian.Uint16(b[1:]))
	case len(b) == 5 && b[0] == 0xfe:
		return fmt.Sprintf("EOF status %#04x warnings %d ", eofStatus(b), binary.LittleEndian.Uint16(b[1:]))
	case len(b) >= 7 && (b[0] == 0 || b[0] == 0xfe):
		return fmt.Sprintf("OK? status %#04x ", okStatus(b))
	}
	return ""
}

func TestCompare(t *testing.T) {
	row := func(sequence byte, text string) recorded {
		return recorded{sequence: sequence, size: len(text), head: text}
	}
	base := []exchange{{label: "login"}, {label: "QUERY", packets: []recorded{row(1, "\x01"), row(2, "\x03def"), row(3, "\x011")}}}
	for _, test := range []struct {
		name    string
		through []exchange
		want    string // what the text has to hold; "" for no difference
	}{
		{"equal", base, ""},
		{"payload", []exchange{base[0], {label: "QUERY", packets: []recorded{row(1, "\x01"), row(2, "\x03deg"), row(3, "\x011")}}}, "step 1, QUERY, packet 1"},
		{"sequence number", []exchange{base[0], {label: "QUERY", packets: []recorded{row(1, "\x01"), row(2, "\x03def"), row(4, "\x011")}}}, "packet 2"},
		{"packet too few", []exchange{base[0], {label: "QUERY", packets: base[1].packets[:2], end: "no answer"}}, "seqgate no answer"},
		{"closed", []exchange{base[0], {label: "QUERY", packets: base[1].packets, end: "closed"}}, "seqgate closed"},
		{"step too few", base[:1], "step 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := compare(base, test.through)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want it to hold %q", got, test.want)
			}
		})
	}
}

func TestMaskNumbers(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"text", "Uptime: 12  Queries per second avg: 1.5", "Uptime: N  Queries per second avg: N"},
		{"row", "\x03123\x02ab", "N|ab|"},
		{"row of another length", "\x0212\x02ab", "N|ab|"},
	} {
		if got := string(maskNumbers([]byte(test.in))); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
