package proxy

import (
	"regexp"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// mergeOK gives the OK packet of a statement that several shards have done, each for
// its own rows: counts are added, those in the info text too (MySQL manual, "mysql_info()").
// The insert id is the first that there is.
func mergeOK(answers []okPacket) okPacket {
	merged := okPacket{status: answers[0].status}
	var info []byte
	for i, ok := range answers {
		merged.affectedRows += ok.affectedRows
		merged.warnings += ok.warnings
		if merged.insertID == 0 {
			merged.insertID = ok.insertID
		}
		if text := infoOf(ok); i == 0 {
			info = text
		} else {
			info = addCounts(info, text)
		}
	}
	if len(info) > 0 {
		merged.rest = append(mysql.AppendLengthEncodedInteger(nil, uint64(len(info))), info...)
	}
	return merged
}

// infoOf gives the info text of an OK packet, whose length stands before it with
// SESSION_TRACK, and which is the rest of the packet without.
func infoOf(ok okPacket) []byte {
	n, null, size := lengthEncoded(ok.rest)
	if null || size == 0 || uint64(len(ok.rest)-size) < n {
		return ok.rest
	}
	return ok.rest[size : uint64(size)+n]
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
