package handshake

// ChangeUser is a COM_CHANGE_USER ("COM_CHANGE_USER" page of the MySQL manual).
type ChangeUser struct {
	User       string
	Proof      []byte
	Database   string
	Charset    uint8 // of two bytes the lower one
	Plugin     string
	Attributes []byte

	database, databaseEnd int
}

// ParseChangeUser reads the payload of a COM_CHANGE_USER, of a client with the
// given capability flags. What stands behind the database may be missing.
func ParseChangeUser(b []byte, flags uint64) (ChangeUser, error) {
	var u ChangeUser
	c := cursor{b: b, at: min(1, len(b))}
	u.User = c.terminated()
	r := Response{Capabilities: flags &^ LenencProof}
	u.Proof = c.proof(&r)
	u.database = c.at
	u.Database = c.terminated()
	u.databaseEnd = c.at
	if !c.bad && c.at < len(b) {
		if charset := c.take(2); charset != nil {
			u.Charset = charset[0]
		}
	}
	if flags&PluginAuth != 0 && !c.bad && c.at < len(b) {
		u.Plugin = c.terminated()
	}
	if flags&ConnectAttrs != 0 && !c.bad && c.at < len(b) {
		u.Attributes = c.lengthEncoded()
	}
	if c.bad {
		return u, ErrMalformed
	}
	return u, nil
}

// Rewrite returns the payload that u was read from, with another database.
func (u *ChangeUser) Rewrite(payload []byte, database string) []byte {
	if database == u.Database || u.databaseEnd == u.database {
		return payload
	}
	b := append(append([]byte(nil), payload[:u.database]...), database...)
	return append(append(b, 0), payload[u.databaseEnd:]...)
}
