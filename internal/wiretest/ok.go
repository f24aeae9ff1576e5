package wiretest

import (
	"encoding/binary"
	"fmt"
)

// Flags of an OK packet's status, and the capability that decides what follows it.
const (
	statusStateChanged = 0x4000
	capabilityTracks   = 1 << 23
)

// CheckOK reads the payload of an OK packet, also of one that ends rows, as strictly as
// the manual's page "OK_Packet" has it for a client with these capability flags, and
// tells what is wrong with it.
func CheckOK(b []byte, flags uint64) error {
	r := okReader{b: b}
	if head := r.take(1); r.err == nil && head[0] != 0x00 && head[0] != 0xfe {
		return fmt.Errorf("it begins with %#x", head[0])
	}
	r.number("affected rows")
	r.number("insert id")
	status := r.take(4)
	if r.err != nil {
		return r.err
	}
	changed := binary.LittleEndian.Uint16(status)&statusStateChanged != 0
	tracks := flags&capabilityTracks != 0
	switch {
	case changed && !tracks:
		return fmt.Errorf("it tells of news to a client that wants none")
	case len(r.b) > 0 || changed:
		r.text("info")
	}
	if changed {
		r.news()
	}
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("%d bytes are left: %x", len(r.b), r.b)
	}
	return r.err
}

// okReader reads a payload from its beginning. Once something did not fit, err is set.
type okReader struct {
	b   []byte
	err error
}

func (r *okReader) take(n int) []byte {
	if r.err == nil && n > len(r.b) {
		r.err = fmt.Errorf("it ends %d bytes too early", n-len(r.b))
	}
	if r.err != nil {
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// number reads a length-encoded number.
func (r *okReader) number(what string) uint64 {
	head := r.take(1)
	if r.err != nil {
		return 0
	}
	width := 0
	switch head[0] {
	default:
		return uint64(head[0])
	case 0xfb, 0xff:
		r.err = fmt.Errorf("%s: no number begins with %#x", what, head[0])
		return 0
	case 0xfc:
		width = 2
	case 0xfd:
		width = 3
	case 0xfe:
		width = 8
	}
	var wide [8]byte
	copy(wide[:], r.take(width))
	return binary.LittleEndian.Uint64(wide[:])
}

// text reads a length-encoded string.
func (r *okReader) text(what string) []byte {
	n := r.number(what)
	if r.err == nil && n > uint64(len(r.b)) {
		r.err = fmt.Errorf("%s: %d bytes, and %d are left", what, n, len(r.b))
	}
	return r.take(int(min(n, 1<<30)))
}

// news reads what a server tells of the session.
func (r *okReader) news() {
	all := okReader{b: r.text("news of the session"), err: r.err} // MariaDB may send none behind the flag
	for all.err == nil && len(all.b) > 0 {
		kind := all.take(1)[0]
		one := okReader{b: all.text(fmt.Sprintf("news of kind %d", kind)), err: all.err}
		switch kind {
		case 0: // system variables
			for one.err == nil && len(one.b) > 0 {
				one.text("variable")
				one.text("value")
			}
		case 1:
			one.text("schema")
			if one.err == nil && len(one.b) > 0 {
				one.err = fmt.Errorf("the schema: %d bytes are left", len(one.b))
			}
		}
		all.err = one.err
	}
	r.err = all.err
}
