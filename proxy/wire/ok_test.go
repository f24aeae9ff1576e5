package wire

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/wiretest"
)

// Whatever status and rest were merged: the packet can be read.
func TestTidyOK(t *testing.T) {
	const flag = mysql.SERVER_SESSION_STATE_CHANGED
	for _, rest := range []string{"", "\x00", "\x03abc", "\x03abc\x05\x01\x03\x02db", "\x00\x05\x01\x03\x02db", "\x00\x04\x02\x02\x011"} {
		for _, status := range []uint16{0, flag} {
			for _, track := range []bool{false, true} {
				ok := OK{Status: status | mysql.SERVER_STATUS_AUTOCOMMIT, Rest: []byte(rest)}
				ok.Tidy(track)
				capabilities := uint64(0)
				if track {
					capabilities = uint64(mysql.CLIENT_SESSION_TRACK)
				}
				if err := wiretest.CheckOK(ok.Append(nil), capabilities); err != nil {
					t.Errorf("rest %q, status %#x, track %v: %v", rest, status, track, err)
				}
				if kept := ok.Status&flag != 0; kept != (track && status&flag != 0 && len(rest) > 5) {
					t.Errorf("rest %q, status %#x, track %v: news kept: %v", rest, status, track, kept)
				}
			}
		}
	}
}
