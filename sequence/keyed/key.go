package keyed

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/text/unicode/norm"
)

// canonical appends the form of a key under which it is counted to dst. Two keys that a database may take for equal have
// the same one, else a unique index over key and value could refuse rows:
//
//   - text is compared at least as coarsely as by the case- and accent-insensitive collations of no particular language
//     (utf8mb4_general_ci, utf8mb4_unicode_ci, utf8mb4_0900_ai_ci, MariaDB's uca1400_ai_ci), in ASCII and the letters of
//     Latin, Greek, Cyrillic, Kana, Han and Hangul. For rarer characters, as digits and letters made for mathematics, these
//     collations contradict each other, and so it is for the collations of single languages;
//   - text that is a number is the integer that an integer column makes of it: "042", "42.0" and "4.2e1" are "42";
//   - bytes that are no UTF-8 stay as they are.
//
// Different keys with the same form share a counter, which costs gaps and nothing else: so when in doubt, it is coarser.
// It must not change: a key that moved to another section would begin there with values it has had. Unicode's own
// stability policy keeps the foldings of all characters that are assigned by now.
func canonical(dst, key []byte) []byte {
	start := len(dst)
	switch {
	case isASCII(key):
		dst = appendASCII(dst, key)
	case utf8.Valid(key):
		dst = appendText(dst, key)
	default:
		return append(dst, key...)
	}
	text := bytes.Trim(dst[start:], " ")
	dst = append(dst[:start], text...)
	return integer(dst, start)
}

// alike has what collations take for equal besides accents, width, case, and Hiragana and Katakana.
var alike = strings.NewReplacer("ß", "s", "ẞ", "s", "æ", "ae", "Æ", "ae", "œ", "oe", "Œ", "oe", "ð", "d", "Ð", "d", "đ", "d", "Đ", "d",
	"ħ", "h", "Ħ", "h", "ł", "l", "Ł", "l", "ø", "o", "Ø", "o", "·", "",
	"ぁ", "あ", "ぃ", "い", "ぅ", "う", "ぇ", "え", "ぉ", "お", "っ", "つ", "ゃ", "や", "ゅ", "ゆ", "ょ", "よ", "ゎ", "わ", "ゕ", "か", "ゖ", "け",
	"ァ", "あ", "ィ", "い", "ゥ", "う", "ェ", "え", "ォ", "お", "ッ", "つ", "ャ", "や", "ュ", "ゆ", "ョ", "よ", "ヮ", "わ", "ヵ", "か", "ヶ", "け")

func isASCII(key []byte) bool {
	for _, b := range key {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendASCII appends what counts of the key. "ss" is "s" everywhere, because one collation takes the sharp s for the one and
// others for the other.
func appendASCII(dst, key []byte) []byte {
	before := byte(0)
	for _, b := range key {
		if b = ascii[b]; b != 0 && (b != 's' || before != 's') {
			dst = append(dst, b)
			before = b
		}
	}
	return dst
}

// ascii maps each ASCII character to what counts of it: 0, nothing, for control characters, and letters in lower case.
var ascii = func() (to [utf8.RuneSelf]byte) {
	for b := byte(' '); b < 0x7f; b++ {
		to[b] = byte(unicode.ToLower(rune(b)))
	}
	return to
}()

// appendText appends what counts of a key with other than ASCII characters.
func appendText(dst, key []byte) []byte {
	before := rune(0)
	for _, r := range alike.Replace(string(norm.NFKD.Bytes(key))) { // NFKD splits accents and ligatures off, and knows no width
		if r = foldedRune(r); r != 0 && (r != 's' || before != 's') {
			dst = utf8.AppendRune(dst, r)
			before = r
		}
	}
	return dst
}

func foldedRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return rune(ascii[r])
	case r > 0xffff:
		return utf8.RuneError // collations without weights for the supplementary characters take all of them for equal
	case unicode.In(r, unicode.M, unicode.C):
		return 0
	case unicode.Is(unicode.Z, r):
		return ' '
	case r >= 'ァ' && r <= 'ヶ': // Katakana
		return r - ('ァ' - 'ぁ')
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// integer replaces dst[start:] by the nearest integer if it is a decimal number, rounded half away from zero as MySQL does
// (manual, "Rounding Behavior").
func integer(dst []byte, start int) []byte {
	if text := dst[start:]; len(text) > 0 && text[0] != '0' && !slices.ContainsFunc(text, notDigit) {
		return dst // as most are
	}
	n, ok := parseNumber(dst[start:])
	if !ok {
		return dst
	}
	whole, up := n.round()
	whole = bytes.TrimLeft(whole, "0")
	if up {
		whole = increment(whole)
	}
	if len(whole) == 0 {
		whole, n.negative = []byte("0"), false
	}
	dst = dst[:start]
	if n.negative {
		dst = append(dst, '-')
	}
	return append(dst, whole...)
}

// number is a decimal number: its digits, the first point of which belong before the decimal point.
type number struct {
	negative bool
	digits   []byte
	point    int
}

// maxExponent bounds the exponents that count: no integer column, nor a DECIMAL(65), holds more digits.
const maxExponent = 65

// parseNumber reads [sign] digits [. digits] [e [sign] digits], with a digit before the e.
func parseNumber(text []byte) (number, bool) {
	if len(text) == 0 || text[0] > '9' {
		return number{}, false
	}
	n := number{negative: text[0] == '-'}
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	mantissa, exponent, scientific := bytes.Cut(text, []byte("e"))
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	if len(whole)+len(fraction) == 0 || slices.ContainsFunc(whole, notDigit) || slices.ContainsFunc(fraction, notDigit) {
		return number{}, false
	}
	n.digits, n.point = slices.Concat(whole, fraction), len(whole)
	if scientific {
		e, err := strconv.Atoi(string(exponent))
		if err != nil || e > maxExponent || e < -maxExponent {
			return number{}, false
		}
		n.point += e
	}
	return n, true
}

func notDigit(b byte) bool { return b < '0' || b > '9' }

// round returns the digits before the point, and whether those after it round them up.
func (n number) round() (whole []byte, up bool) {
	switch {
	case n.point < 0:
		return nil, false
	case n.point >= len(n.digits):
		return append(n.digits, bytes.Repeat([]byte("0"), n.point-len(n.digits))...), false
	}
	return n.digits[:n.point:n.point], n.digits[n.point] >= '5'
}

// increment adds one to a decimal number without leading zeros.
func increment(digits []byte) []byte {
	for i, d := range slices.Backward(digits) {
		if d < '9' {
			digits[i]++
			return digits
		}
		digits[i] = '0'
	}
	return append([]byte("1"), digits...)
}

// SectionOf returns the section that a key belongs to in a keyed sequence with so many sections, at least 1: 0 to
// sections-1.
func SectionOf(key []byte, sections int) int { return sectionOf(hash(key), sections) }

func sectionOf(hash uint64, sections int) int { return int(hash % uint64(sections)) }

// hash returns the xxHash of 64 bits, seed 0, of a key's canonical form. The section of a key is the hash modulo the number
// of sections, and within its section the hash stands for the key: two keys with one hash share a counter. It must not
// change, as canonical.
func hash(key []byte) uint64 {
	var buf [64]byte // no allocation for keys that fit
	return xxhash.Sum64(canonical(buf[:0], key))
}
