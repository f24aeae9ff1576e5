package parser

// AppendText appends text, which is in the client's character set, to dst as a string
// literal of a session in this mode ("String Literals" in the MySQL manual). It reports
// false for text that has no literal that reads as it in all servers.
func (m Mode) AppendText(dst, text []byte) ([]byte, bool) {
	if len(text) == 0 && m.EmptyStringIsNull || m.Charset.layout() > layoutSingle && !isASCII(text) {
		return dst, false
	}
	dst = append(dst, '\'')
	for _, c := range text {
		if c == '\'' || c == '\\' && !m.NoBackslashEscapes {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\''), true
}

// QuerySpan returns where the query stands that the statement takes its rows from,
// once ParseQuery has read it.
func (s *InsertStmt) QuerySpan() Span { return Span{s.query.begin, s.query.end} }
