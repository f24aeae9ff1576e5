package proxy

import (
	"strings"
	"testing"
)

func TestIsLike(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "", false}, {"a", "ab", false}, {"%", "", true}, {"%", "abc", true},
		{"a%", "a", true}, {"%b", "a", false}, {"%b", "ab", true}, {"a%c", "abbc", true}, {"a%bc", "abbbc", true}, {"a%b%c", "axbxbxc", true}, {"a%b%c", "axbxbx", false},
		{"_", "a", true}, {"_", "", false}, {"_%_", "a", false}, {"_%_", "ab", true}, {`\%`, "%", true}, {`\%`, "a", false}, {`%\_b`, "a_b", true}, {`a\`, `a\`, true},
		{strings.Repeat("%", 1000) + "z", strings.Repeat("a", 1000), false},
	} {
		if got := isLike([]rune(tt.pattern), []rune(tt.text)); got != tt.want {
			t.Errorf("%q LIKE %q: %v, want %v", tt.text, tt.pattern, got, tt.want)
		}
	}
}
