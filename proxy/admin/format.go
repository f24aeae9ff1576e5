package admin

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// none stands for what there is not.
const none = "–"

// grouped writes a number with narrow spaces between groups of three digits.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	text := make([]byte, 0, len(digits)+len(digits)/3*len(narrowSpace))
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			text = append(text, narrowSpace...)
		}
		text = append(text, digits[i])
	}
	return sign + string(text)
}

const narrowSpace = "\u202f"

// perSecond writes a rate: whole numbers from ten on.
func perSecond(rate float64) string {
	switch {
	case math.IsNaN(rate):
		return none
	case rate == 0:
		return "0"
	case rate < 0.01:
		return "< 0.01"
	case rate < 10:
		return strconv.FormatFloat(rate, 'g', 2, 64)
	}
	return grouped(int64(math.Round(rate)))
}

// percent writes a share; one that is small but not nothing is not written as 0.
func percent(share float64) string {
	switch p := share * 100; {
	case math.IsNaN(share):
		return none
	case p == 0:
		return "0 %"
	case p < 0.001:
		return "< 0.001 %"
	case p < 1:
		return strconv.FormatFloat(p, 'g', 1, 64) + " %"
	default:
		return strconv.FormatFloat(math.Floor(p*10)/10, 'f', -1, 64) + " %" // 99.99 is not 100
	}
}

// seconds writes a runway or what is left of a lease: in seconds, from three hours on in larger units too.
func seconds(d time.Duration) string {
	text := grouped(int64(d.Seconds())) + " s"
	if d < 3*time.Hour {
		return text
	}
	return text + " (" + about(d) + ")"
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// about writes a duration in its two largest units.
func about(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int64(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d < year:
		return fmt.Sprintf("%d d %d h", d/day, d%day/time.Hour)
	}
	return fmt.Sprintf("%d y %d d", d/year, d%year/day)
}

// size writes a number of bytes.
func size(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/1024, 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", v, units[i])
}

// moment writes a time.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// How bad something is, as the style sheet's classes.
const (
	fine = ""
	warn = "warn"
	bad  = "bad"
)

// tooFar is where forecasts end.
const tooFar = 1000 * 365.25 * 24 * 3600.0 // seconds

// forecast says when so many ids are used up at so many per second, and how near that is.
func forecast(now time.Time, left int64, rate float64) (text, level string) {
	if left <= 0 {
		return "used up", bad
	}
	if !(rate > 0) {
		return none, fine // nobody takes any
	}
	in := float64(left) / rate
	if in > tooFar {
		return "in over 1000 years", fine
	}
	at := time.Unix(now.Unix()+int64(in), 0).UTC() // a time.Duration ends at 292 years
	switch d := time.Duration(min(in, 1e9) * 1e9); {
	case d < 2*day:
		return "in " + about(d), bad
	case d < 90*day:
		return at.Format("2006-01-02"), bad
	case d < 2*year:
		return at.Format("2006-01-02"), warn
	}
	return at.Format("2006-01"), fine
}
