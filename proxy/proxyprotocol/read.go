// Package proxyprotocol reads the header by which a proxy tells, before a connection's first byte, whose it is
// (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt). It is read to its exact end, so that the raw socket can be
// used after it: the libraries for it put a buffer in between.
package proxyprotocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
)

const (
	v2Signature  = "\r\n\r\n\x00\r\nQUIT\n"
	v1Max        = 107     // bytes of a header of version 1, CR and LF too
	v2Max        = 4 << 10 // bytes of addresses and TLVs in one of version 2
	v2HeaderSize = len(v2Signature) + 4
)

// Read reads a header and no byte more, and gives the client's address; the zero one when the header has none. The error is
// io.EOF when nothing came.
func Read(r io.Reader) (netip.AddrPort, error) {
	var b [v1Max]byte
	if _, err := io.ReadFull(r, b[:len(v2Signature)]); err != nil { // shorter than any header
		return netip.AddrPort{}, err
	}
	if string(b[:len(v2Signature)]) == v2Signature {
		return readV2(r)
	}
	if !strings.HasPrefix(string(b[:]), "PROXY ") {
		return netip.AddrPort{}, errors.New("neither version 1 nor 2")
	}
	for n := len(v2Signature); n < v1Max; n++ {
		if _, err := io.ReadFull(r, b[n:n+1]); err != nil {
			return netip.AddrPort{}, unexpectedEOF(err)
		}
		if b[n] == '\n' {
			return parseV1(string(b[:n+1]))
		}
	}
	return netip.AddrPort{}, fmt.Errorf("version 1, longer than %d bytes", v1Max)
}

// parseV1 takes "PROXY TCP4 client server port port", or TCP6, or UNKNOWN
// with anything behind it.
func parseV1(line string) (netip.AddrPort, error) {
	text, ok := strings.CutSuffix(line, "\r\n")
	fields := strings.Split(text, " ")
	switch {
	case !ok:
		return netip.AddrPort{}, errors.New("version 1, not ended by CR LF")
	case fields[1] == "UNKNOWN":
		return netip.AddrPort{}, nil
	case fields[1] != "TCP4" && fields[1] != "TCP6" || len(fields) != 6:
		return netip.AddrPort{}, fmt.Errorf("version 1, malformed: %.100q", text)
	}
	client, err := parseAddrV1(fields[1], fields[2], fields[4])
	if err != nil {
		return netip.AddrPort{}, err
	}
	_, err = parseAddrV1(fields[1], fields[3], fields[5])
	return client, err
}

func parseAddrV1(family, host, port string) (netip.AddrPort, error) {
	addr, err := netip.ParseAddr(host)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || addr.Zone() != "" || addr.Is4() != (family == "TCP4") || strconv.FormatUint(n, 10) != port {
		return netip.AddrPort{}, fmt.Errorf("version 1, no address of %s: %.100q with port %.100q", family, host, port)
	}
	return netip.AddrPortFrom(addr, uint16(n)), nil
}

// readV2 reads what follows the signature of version 2.
func readV2(r io.Reader) (netip.AddrPort, error) {
	var b [v2HeaderSize - len(v2Signature)]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return netip.AddrPort{}, unexpectedEOF(err)
	}
	length := int(binary.BigEndian.Uint16(b[2:]))
	if length > v2Max {
		return netip.AddrPort{}, fmt.Errorf("version 2, %d bytes of addresses, more than %d", length, v2Max)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return netip.AddrPort{}, unexpectedEOF(err)
	}
	const local, proxy = 0x20, 0x21
	switch b[0] {
	case local: // the proxy's own connection, such as a check: what else stands there counts for nothing
		return netip.AddrPort{}, nil
	case proxy:
		return parseV2(b[1], body)
	}
	return netip.AddrPort{}, fmt.Errorf("version and command %#x, want %#x or %#x", b[0], local, proxy)
}

// parseV2 takes the addresses; what follows them (TLVs) is not looked at.
func parseV2(family byte, body []byte) (netip.AddrPort, error) {
	const unspecified, tcp4, tcp6, unixStream = 0x00, 0x11, 0x21, 0x31
	sizes := map[byte]int{unspecified: 0, tcp4: 4, tcp6: 16, unixStream: 108} // of one of the two addresses
	size, ok := sizes[family]
	ports := 4
	if family == unspecified || family == unixStream {
		ports = 0
	}
	switch {
	case !ok:
		return netip.AddrPort{}, fmt.Errorf("version 2, address family and transport %#x", family)
	case len(body) < 2*size+ports:
		return netip.AddrPort{}, fmt.Errorf("version 2, %d bytes of addresses, too few for %#x", len(body), family)
	case ports == 0:
		return netip.AddrPort{}, nil // the client has no address that says where it is
	}
	addr, _ := netip.AddrFromSlice(body[:size]) // 4 or 16 bytes
	return netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(body[2*size:])), nil
}

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
