package wire

import (
	"encoding/binary"
	"regexp"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// OK is the fixed part of an OK packet.
type OK struct {
	AffectedRows, InsertID uint64
	Status, Warnings       uint16
	Rest                   []byte // info and session state, as they came
}

// ParseOK reads the payload of an OK packet.
func ParseOK(b []byte) (ok OK, valid bool) {
	if len(b) < 1 {
		return ok, false
	}
	b = b[1:]
	var size int
	if ok.AffectedRows, _, size = LengthEncoded(b); size == 0 {
		return ok, false
	}
	b = b[size:]
	if ok.InsertID, _, size = LengthEncoded(b); size == 0 || len(b) < size+4 {
		return ok, false
	}
	b = b[size:]
	ok.Status = binary.LittleEndian.Uint16(b)
	ok.Warnings = binary.LittleEndian.Uint16(b[2:])
	ok.Rest = b[4:]
	return ok, true
}

// Append appends the packet's payload to dst.
func (ok OK) Append(dst []byte) []byte {
	dst = append(dst, mysql.OK_HEADER)
	dst = mysql.AppendLengthEncodedInteger(dst, ok.AffectedRows)
	dst = mysql.AppendLengthEncodedInteger(dst, ok.InsertID)
	dst = binary.LittleEndian.AppendUint16(dst, ok.Status)
	dst = binary.LittleEndian.AppendUint16(dst, ok.Warnings)
	return append(dst, ok.Rest...)
}

// statusANSIQuotes is MariaDB's flag for the SQL mode ANSI_QUOTES.
const statusANSIQuotes = 0x8000

// LastingStatus are the flags that tell of the session. The others tell of one answer:
// that more follow, that its packet has news of the session, that a cursor is open.
const LastingStatus = mysql.SERVER_STATUS_IN_TRANS | mysql.SERVER_STATUS_IN_TRANS_READONLY | mysql.SERVER_STATUS_AUTOCOMMIT |
	mysql.SERVER_STATUS_NO_BACKSLASH_ESCAPED | statusANSIQuotes

// Tidy has the packet be as a client with or without CLIENT_SESSION_TRACK reads it:
// news of the session, which follow the info text, and the flag that says so stand
// together or not at all. Merged from those of several servers it may have one of them.
func (ok *OK) Tidy(track bool) {
	const flag = mysql.SERVER_SESSION_STATE_CHANGED
	n, null, size := LengthEncoded(ok.Rest)
	if null || size == 0 || uint64(len(ok.Rest)-size) < n {
		ok.Status &^= flag
		return // no news, and an info text at most
	}
	info := size + int(n)
	if track && ok.Status&flag != 0 && len(ok.Rest) > info {
		return
	}
	ok.Status &^= flag
	if ok.Rest = ok.Rest[:info]; n == 0 {
		ok.Rest = nil
	}
}

// MergeOK returns the OK packet of a statement that several shards have done, each for
// its own rows: counts are added, those in the info text too (MySQL manual, "mysql_info()").
// The insert id is the first that there is.
func MergeOK(answers []OK) OK {
	merged := OK{Status: answers[0].Status}
	var info []byte
	for i, ok := range answers {
		merged.AffectedRows += ok.AffectedRows
		merged.Warnings += ok.Warnings
		if merged.InsertID == 0 {
			merged.InsertID = ok.InsertID
		}
		if text := infoOf(ok); i == 0 {
			info = text
		} else {
			info = addCounts(info, text)
		}
	}
	if len(info) > 0 {
		merged.Rest = append(mysql.AppendLengthEncodedInteger(nil, uint64(len(info))), info...)
	}
	return merged
}

// infoOf returns the info text of an OK packet, whose length stands before it with
// SESSION_TRACK, and which is the rest of the packet without.
func infoOf(ok OK) []byte {
	n, null, size := LengthEncoded(ok.Rest)
	if null || size == 0 || uint64(len(ok.Rest)-size) < n {
		return ok.Rest
	}
	return ok.Rest[size : uint64(size)+n]
}

var infoCount = regexp.MustCompile(`\d+`)

// addCounts adds the numbers of two texts that are otherwise the same.
func addCounts(a, b []byte) []byte {
	others := infoCount.FindAll(b, -1)
	return infoCount.ReplaceAllFunc(a, func(digits []byte) []byte {
		if len(others) == 0 {
			return digits
		}
		x, err := strconv.ParseUint(string(digits), 10, 64)
		y, otherErr := strconv.ParseUint(string(others[0]), 10, 64)
		others = others[1:]
		if err != nil || otherErr != nil {
			return digits // a text of another kind
		}
		return strconv.AppendUint(nil, x+y, 10)
	})
}
