package meter

// Class is a group of MySQL's error numbers, so that there are only so many.
type Class uint8

// The classes.
const (
	NoError Class = iota
	DuplicateKey
	Constraint
	Data
	Deadlock
	LockTimeout
	Syntax
	Access
	Missing
	NotSupported
	Exhausted
	ReadOnly
	Timeout
	Connection
	Shutdown
	Limit
	OtherError
	classes
)

var classNames = [classes]string{"", "duplicate_key", "constraint", "data", "deadlock", "lock_timeout", "syntax", "access", "missing",
	"not_supported", "exhausted", "read_only", "timeout", "connection", "shutdown", "limit", "other"}

// String returns the name of c in metrics.
func (c Class) String() string { return classNames[c] }

// ClassOf returns the class of an error number (MySQL 9 and MariaDB Error Reference).
func ClassOf(errno uint16) Class {
	switch errno {
	case 1022, 1062, 1169, 1586, 1761, 1762, 1859:
		return DuplicateKey
	case 1048, 1216, 1217, 1364, 1451, 1452, 3819, 4025:
		return Constraint
	case 1264, 1265, 1292, 1366, 1406, 1411, 1690, 3140:
		return Data
	case 1213, 1614, 3572: // rolled back, or NOWAIT
		return Deadlock
	case 1205:
		return LockTimeout
	case 1064, 1065, 1149:
		return Syntax
	case 1044, 1045, 1142, 1143, 1227, 1370, 1410, 1698, 1820, 3118:
		return Access
	case 1046, 1049, 1051, 1054, 1091, 1109, 1146, 1243, 1305, 4091:
		return Missing
	case 1047, 1235, 1289, 1295, 1115:
		return NotSupported
	case 1467, 1526, 4084: // no id is left, or none that the column holds
		return Exhausted
	case 1223, 1290, 1792, 1836:
		return ReadOnly
	case 1317, 1969, 3024:
		return Timeout
	case 1152, 1158, 1159, 1160, 1161, 1184, 1429, 1835, 1927, 2002, 2003, 2006, 2013, 4031:
		return Connection
	case 1053, 1077, 1079:
		return Shutdown
	case 1040, 1041, 1104, 1114, 1153, 1203, 1226, 1390, 1461:
		return Limit
	}
	return OtherError
}
