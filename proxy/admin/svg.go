package admin

// The width of a bar in its own units; the style sheet says how wide it is drawn.
const barWidth = 100.0

// segmentBar is how a sequence's two segments are drawn: two boxes beside each other, of which that of the current one is
// filled from the right by the share that is left.
type segmentBar struct {
	Left, LeftWidth float64 // what is left of the current segment
	Next, NextWidth float64 // the next segment, as a share of a step
	Middle          float64 // where the boxes meet
}

// newSegmentBar returns the bar of segments in memory, of which the latest was of so many ids.
func newSegmentBar(current, next, step int64) segmentBar {
	const half = barWidth / 2
	whole := max(step, current, next)
	b := segmentBar{Left: half, Next: half, Middle: half}
	if whole <= 0 {
		return b
	}
	b.LeftWidth = half * share(current, whole)
	b.Left = half - b.LeftWidth
	b.NextWidth = half * share(next, whole)
	return b
}

// share is what part is of the whole, from 0 to 1.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(float64(part)/float64(whole), 0), 1)
}
