package parser

import "github.com/pingcap/tidb/pkg/parser/charset"

// CollationName returns the name of the collation that a client names by its
// number in the handshake; false for a number that MySQL 8 does not have.
func CollationName(id uint8) (string, bool) {
	c, err := charset.GetCollationByID(int(id))
	if err != nil {
		return "", false
	}
	return c.Name, true
}
