package parser

import (
	"bytes"
	"net/url"
)

// TraceContext returns what a comment at the beginning or at the end of a text says of the trace that it belongs to, in the
// form of sqlcommenter (https://google.github.io/sqlcommenter/spec/): key='value' with commas between them, values
// encoded as in URLs. Both are empty when there is none. What looks like such a comment at the end of a text but
// belongs to a string or a line's comment is taken for one: it is no more than a claim of the client's either way.
func TraceContext(sql []byte) (traceparent, tracestate string) {
	sql = bytes.TrimSpace(sql)
	if bytes.HasPrefix(sql, []byte("/*")) {
		if end := bytes.Index(sql, []byte("*/")); end > 0 {
			traceparent, tracestate = commentedTrace(sql[2:max(2, end)])
		}
	}
	if traceparent != "" {
		return traceparent, tracestate
	}
	sql = bytes.TrimRight(sql, "; \t\r\n")
	if begin := bytes.LastIndex(sql, []byte("/*")); begin >= 0 && bytes.HasSuffix(sql[begin+2:], []byte("*/")) {
		return commentedTrace(sql[begin+2 : len(sql)-2])
	}
	return "", ""
}

// commentedTrace reads the pairs in a comment.
func commentedTrace(comment []byte) (traceparent, tracestate string) {
	if !bytes.Contains(comment, []byte("traceparent=")) {
		return "", ""
	}
	for pair := range bytes.SplitSeq(comment, []byte(",")) {
		key, value, ok := bytes.Cut(bytes.TrimSpace(pair), []byte("='"))
		if !ok || !bytes.HasSuffix(value, []byte("'")) {
			continue
		}
		decoded, err := url.PathUnescape(string(value[:len(value)-1]))
		switch {
		case err != nil: // it was not encoded as it should be: nothing can be said of it
		case string(key) == "traceparent":
			traceparent = decoded
		case string(key) == "tracestate":
			tracestate = decoded
		}
	}
	return traceparent, tracestate
}
