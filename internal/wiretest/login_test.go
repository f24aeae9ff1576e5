package wiretest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"
)

// Authentication plugins.
const (
	nativePassword = "mysql_native_password"
	cachingSHA2    = "caching_sha2_password"
)

// login is how a client logs in. The zero value is the account app with its password, in the case's own database, with
// modernFlags.
type login struct {
	user       string // "" for app
	nobody     bool   // the user's name is empty
	password   string // "" for the user's name, which is its password; see noPassword
	database   string // "" for the case's own, see noDatabase
	noPassword bool
	noDatabase bool
	flags      uint64 // 0 for modernFlags
	force      uint64 // flags that are sent though the server does not announce them
	charset    byte   // id of the collation; 0 for utf8mb4_general_ci
	attributes [][2]string
	plugin     string // named in the answer; "" for the greeting's
	tls        bool
	response   func(c *client) []byte // bytes to send instead of the handshake response
}

// greeting is a HandshakeV10 packet ("Protocol::HandshakeV10" page of the MySQL manual).
type greeting struct {
	version string
	id      uint32
	salt    []byte
	flags   uint64
	charset byte
	status  uint16
	plugin  string
}

func parseGreeting(b []byte) (greeting, error) {
	end := bytes.IndexByte(b, 0)
	if end < 1 || b[0] != 10 || len(b) < end+45 {
		return greeting{}, errors.New("no greeting")
	}
	g := greeting{version: string(b[1:end])}
	b = b[end+1:]
	g.id = binary.LittleEndian.Uint32(b)
	g.flags = uint64(binary.LittleEndian.Uint16(b[13:])) | uint64(binary.LittleEndian.Uint16(b[18:]))<<16
	g.charset = b[15]
	g.status = binary.LittleEndian.Uint16(b[16:])
	if g.flags&longPassword == 0 { // a MariaDB that tells of its extended flags
		g.flags |= uint64(binary.LittleEndian.Uint32(b[27:])) << 32
	}
	g.salt = append(append([]byte(nil), b[4:12]...), b[31:43]...)
	if len(b) > 44 {
		g.plugin = string(bytes.TrimRight(b[44:], "\x00"))
	}
	return g, nil
}

// dial connects and logs in. The packet that ended the login is returned: OK or ERR. An error tells of a connection that
// ended before.
func dial(addr, database string, l login, patience time.Duration) (*client, packet, error) {
	nc, err := net.DialTimeout("tcp", addr, defaultPatience)
	if err != nil {
		return nil, packet{}, err
	}
	c := &client{Conn: nc, read: bufio.NewReaderSize(nc, 64<<10), patience: patience}
	last, err := c.logIn(l.withDefaults(database))
	if err != nil || first(last.payload) != 0 {
		c.dead = true
	}
	return c, last, err
}

func (l login) withDefaults(database string) login {
	if l.user == "" && !l.nobody {
		l.user = "app"
	}
	if l.password == "" && !l.noPassword {
		l.password = l.user
	}
	if l.database == "" && !l.noDatabase {
		l.database = database
	}
	if l.flags == 0 {
		l.flags = modernFlags
	}
	if l.charset == 0 {
		l.charset = 45
	}
	return l
}

func (c *client) logIn(l login) (packet, error) {
	p, err := c.next()
	if err != nil || first(p.payload) == 0xff {
		return p, err
	}
	if c.greeting, err = parseGreeting(p.payload); err != nil {
		return p, err
	}
	announced := c.greeting.flags
	if l.tls {
		l.flags |= useTLS
	}
	c.flags = l.flags&announced | l.force
	if l.response != nil {
		if _, err := c.Write(l.response(c)); err != nil {
			return packet{}, err
		}
		return c.next()
	}
	sequence := byte(1)
	if c.has(useTLS) {
		if err := c.startTLS(l); err != nil {
			return packet{}, err
		}
		sequence = 2
	}
	plugin := l.plugin
	if plugin == "" {
		plugin = c.greeting.plugin
	}
	if _, err := c.Write(frame(sequence, c.handshakeResponse(l, plugin))); err != nil {
		return packet{}, err
	}
	return c.authenticate(l.password)
}

// startTLS sends the first part of the handshake response alone, and goes on encrypted.
func (c *client) startTLS(l login) error {
	if _, err := c.Write(frame(1, c.responseHead(l))); err != nil {
		return err
	}
	encrypted := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}) // whom it talks to is not the matter here
	if err := encrypted.Handshake(); err != nil {
		return err
	}
	c.Conn, c.read = encrypted, bufio.NewReaderSize(encrypted, 64<<10)
	return nil
}

func (c *client) responseHead(l login) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(c.flags))
	b = binary.LittleEndian.AppendUint32(b, maxPayload)
	b = append(b, l.charset)
	b = append(b, make([]byte, 19)...)
	return binary.LittleEndian.AppendUint32(b, uint32(c.flags>>32)) // zero but for MariaDB
}

// handshakeResponse makes the payload of "Protocol::HandshakeResponse41".
func (c *client) handshakeResponse(l login, plugin string) []byte {
	b := append(c.responseHead(l), l.user...)
	b = append(b, 0)
	auth := scramble(plugin, l.password, c.greeting.salt)
	if c.has(secureConnection) {
		b = appendLengthEncoded(b, string(auth)) // the same as one byte of length, for what is this short
	} else {
		b = append(b, 0) // a text, in which no proof can be: it may hold a NUL
	}
	if c.has(connectWithDB) {
		b = append(append(b, l.database...), 0)
	}
	if c.has(pluginAuth) {
		b = append(append(b, plugin...), 0)
	}
	if c.has(connectAttrs) {
		var all []byte
		for _, a := range l.attributes {
			all = appendLengthEncoded(appendLengthEncoded(all, a[0]), a[1])
		}
		b = appendLengthEncoded(b, string(all))
	}
	return b
}

// authenticate goes on until the server's OK or ERR.
func (c *client) authenticate(password string) (packet, error) {
	salt := c.greeting.salt
	for {
		p, err := c.next()
		if err != nil {
			return p, err
		}
		var answer []byte
		switch {
		case first(p.payload) == 0xfe:
			plugin, rest, _ := bytes.Cut(p.payload[1:], []byte{0})
			salt = bytes.TrimSuffix(rest, []byte{0})
			answer = scramble(string(plugin), password, salt)
		case first(p.payload) != 1:
			return p, nil
		case len(p.payload) == 2 && p.payload[1] == 3: // known to the server's cache: its OK follows
			continue
		case len(p.payload) == 2 && p.payload[1] == 4:
			if c.has(useTLS) {
				answer = append([]byte(password), 0)
			} else {
				answer = []byte{2} // asks for the public key
			}
		default:
			if answer, err = encryptPassword(p.payload[1:], password, salt); err != nil {
				return p, err
			}
		}
		if _, err := c.Write(frame(p.sequence+1, answer)); err != nil {
			return packet{}, err
		}
	}
}

// scramble gives a plugin's proof of the password.
func scramble(plugin, password string, salt []byte) []byte {
	if password == "" {
		return nil
	}
	if plugin == nativePassword {
		once := sha1.Sum([]byte(password))
		twice := sha1.Sum(once[:])
		key := sha1.Sum(append(bytes.Clone(salt), twice[:]...))
		return xor(once[:], key[:])
	}
	once := sha256.Sum256([]byte(password))
	twice := sha256.Sum256(once[:])
	key := sha256.Sum256(append(twice[:], salt...))
	return xor(once[:], key[:])
}

func xor(b, key []byte) []byte {
	for i := range b {
		b[i] ^= key[i%len(key)]
	}
	return b
}

func encryptPassword(key []byte, password string, salt []byte) ([]byte, error) {
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, fmt.Errorf("no public key: %q", key)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	public, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("a public key of type %T", parsed)
	}
	return rsa.EncryptOAEP(sha1.New(), rand.Reader, public, xor(append([]byte(password), 0), salt), nil)
}

func first(b []byte) byte {
	if len(b) == 0 {
		return 0xfb // no packet that ends anything begins with it
	}
	return b[0]
}
