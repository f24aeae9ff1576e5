package handshake

import "github.com/go-mysql-org/go-mysql/mysql"

// Capability flags that a login itself goes by ("Capabilities Flags" page of the
// MySQL manual, "Connecting" page of MariaDB's). MariaDB's own are the upper 32 of
// 64 bits; a side that has them leaves LongPassword out.
const (
	LongPassword     = uint64(mysql.CLIENT_LONG_PASSWORD)
	ConnectWithDB    = uint64(mysql.CLIENT_CONNECT_WITH_DB)
	Compress         = uint64(mysql.CLIENT_COMPRESS)
	Protocol41       = uint64(mysql.CLIENT_PROTOCOL_41)
	SSL              = uint64(mysql.CLIENT_SSL)
	SecureConnection = uint64(mysql.CLIENT_SECURE_CONNECTION)
	PluginAuth       = uint64(mysql.CLIENT_PLUGIN_AUTH)
	ConnectAttrs     = uint64(mysql.CLIENT_CONNECT_ATTRS)
	LenencProof      = uint64(mysql.CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
	Zstd             = uint64(mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM)
)
