package parser

import "testing"

// BenchmarkDigest is what the shape of a statement costs.
func BenchmarkDigest(b *testing.B) {
	for name, sql := range map[string]string{
		"point select": "SELECT v FROM t WHERE id = 1",
		"update":       "UPDATE accounts SET balance = balance - 125.50, changed = '2026-01-02 03:04:05' WHERE id = 4711 AND version = 3",
	} {
		text := []byte(sql)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendDigest(dst[:0], text, []Mode{{}})
			}
		})
	}
}
