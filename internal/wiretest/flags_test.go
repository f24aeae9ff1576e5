package wiretest

// Capability flags ("Capabilities Flags" page of the MySQL manual; those above 1<<32 are MariaDB's, from the page
// "Connection" of its documentation).
const (
	longPassword     = 1 << 0 // CLIENT_MYSQL to MariaDB: without it its extended flags count
	foundRows        = 1 << 1
	longFlag         = 1 << 2
	connectWithDB    = 1 << 3
	noSchema         = 1 << 4
	compress         = 1 << 5
	odbc             = 1 << 6
	localFiles       = 1 << 7
	ignoreSpace      = 1 << 8
	protocol41       = 1 << 9
	interactive      = 1 << 10
	useTLS           = 1 << 11
	transactions     = 1 << 13
	secureConnection = 1 << 15
	multiStatements  = 1 << 16
	multiResults     = 1 << 17
	psMultiResults   = 1 << 18
	pluginAuth       = 1 << 19
	connectAttrs     = 1 << 20
	lenencAuth       = 1 << 21
	expiredPasswords = 1 << 22
	sessionTrack     = 1 << 23
	deprecateEOF     = 1 << 24
	optionalMetadata = 1 << 25
	zstd             = 1 << 26
	queryAttributes  = 1 << 27

	progress         = 1 << 32
	bulkOperations   = 1 << 34
	extendedMetadata = 1 << 35
	cacheMetadata    = 1 << 36
)

// What usual clients ask for. Each keeps to the flags that its server announces.
const (
	// plainFlags is the least that a login takes.
	plainFlags = longPassword | protocol41 | secureConnection | pluginAuth
	// classicFlags is what drivers of the years of MySQL 5.6 ask for: results end with EOF packets.
	classicFlags = plainFlags | longFlag | transactions | multiStatements | multiResults | psMultiResults | localFiles |
		connectAttrs | lenencAuth | connectWithDB
	// modernFlags is what the servers' own clients ask for today.
	modernFlags = classicFlags | deprecateEOF | sessionTrack | queryAttributes
)

// Status flags of OK and EOF packets.
const (
	statusMoreResults  = 0x0008
	statusCursorExists = 0x0040
	statusOutParams    = 0x1000
)

// Commands ("Command Phase" page of the MySQL manual).
const (
	comSleep = iota
	comQuit
	comInitDB
	comQuery
	comFieldList
	comCreateDB
	comDropDB
	comRefresh
	comShutdown
	comStatistics
	comProcessInfo
	comConnect
	comProcessKill
	comDebug
	comPing
	comTime
	comDelayedInsert
	comChangeUser
	comBinlogDump
	comTableDump
	comConnectOut
	comRegisterReplica
	comStmtPrepare
	comStmtExecute
	comStmtSendLongData
	comStmtClose
	comStmtReset
	comSetOption
	comStmtFetch
	comDaemon
	comBinlogDumpGTID
	comResetConnection

	comStmtBulkExecute = 0xfa // MariaDB's
)
