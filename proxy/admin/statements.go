package admin

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/proxy/shapes"
)

// maxStatements bounds the statements that the page shows.
const maxStatements = 50

// StatementsReport lists statements without their values, as JSON.
type StatementsReport struct {
	Statements []StatementReport `json:"statements"` // those first that took the most time together
	Others     *StatementReport  `json:"others,omitempty"`
	Slow       []SlowReport      `json:"slow"` // the latest first
}

// StatementReport is what was counted of statements of one shape.
type StatementReport struct {
	Statement    string  `json:"statement,omitempty"`
	User         string  `json:"user,omitempty"`
	Keyspace     string  `json:"keyspace,omitempty"`
	Calls        int64   `json:"calls"`
	Errors       int64   `json:"errors"`
	Rows         int64   `json:"rows"`
	TotalSeconds float64 `json:"total_seconds"`
	P50Seconds   float64 `json:"p50_seconds"`
	P99Seconds   float64 `json:"p99_seconds"`
}

// SlowReport is a slow statement.
type SlowReport struct {
	Statement string    `json:"statement"`
	User      string    `json:"user"`
	Keyspace  string    `json:"keyspace"`
	Shards    string    `json:"shards"`
	Ended     time.Time `json:"ended"`
	Seconds   float64   `json:"seconds"`
	Rows      uint64    `json:"rows"`
	Failed    bool      `json:"failed"`
}

func (c *Config) statements() StatementsReport {
	all, others, slow := c.Statements()
	report := StatementsReport{Statements: []StatementReport{}, Slow: []SlowReport{}} // lists in JSON, also when they are empty
	for _, s := range all {
		report.Statements = append(report.Statements, statementReport(s))
	}
	if others.Took.Count() > 0 {
		rest := statementReport(others)
		report.Others = &rest
	}
	for _, s := range slow {
		report.Slow = append(report.Slow, SlowReport{s.Text, s.User, s.Keyspace, s.Shards, s.Ended, s.Took.Seconds(), s.Rows, s.Failed})
	}
	return report
}

func statementReport(c shapes.Count) StatementReport {
	return StatementReport{c.Text, c.User, c.Keyspace, c.Took.Count(), c.Failed, c.Rows, c.Took.Sum.Seconds(),
		c.Quantile(0.5).Seconds(), c.Quantile(0.99).Seconds()}
}

// statementsPage lists statements without their values.
type statementsPage struct {
	frame
	Statements  []statementRow
	Total, More string // of shapes, and of those that are not listed; "" for none
	Slow        []slowRow
}

// statementRow is a shape as the page shows it; that of all others has no text.
type statementRow struct{ Text, User, Keyspace, Calls, Errors, Total, Share, P50, P99, Rows string }

// slowRow is a slow statement as the page shows it.
type slowRow struct {
	Text, User, Keyspace, Shards, Ended, Took, Rows string
	Failed                                          bool
}

func (p *pages) statements() statementsPage {
	page := statementsPage{frame: p.frame("statements", time.Now())}
	all, others, slow := p.cfg.Statements()
	if len(all) > 0 {
		page.Total = grouped(int64(len(all)))
	}
	total := others.Took.Sum
	for _, c := range all {
		total += c.Took.Sum
	}
	if len(all) > maxStatements {
		page.More = grouped(int64(len(all) - maxStatements))
		all = all[:maxStatements]
	}
	if others.Took.Count() > 0 {
		all = append(all, others)
	}
	for _, c := range all {
		page.Statements = append(page.Statements, statementRow{
			Text: c.Text, User: c.User, Keyspace: c.Keyspace, Calls: grouped(c.Took.Count()), Errors: grouped(c.Failed), Rows: grouped(c.Rows),
			Total: took(c.Took.Sum), Share: percent(share(int64(c.Took.Sum), int64(total))), P50: took(c.Quantile(0.5)), P99: took(c.Quantile(0.99)),
		})
	}
	for _, s := range slow {
		page.Slow = append(page.Slow, slowRow{Text: s.Text, User: s.User, Keyspace: s.Keyspace, Shards: cmp.Or(strings.ReplaceAll(s.Shards, ",", ", "), none), Ended: moment(s.Ended),
			Took: took(s.Took), Rows: grouped(int64(s.Rows)), Failed: s.Failed})
	}
	return page
}

// took writes how long something took in three digits.
func took(d time.Duration) string {
	switch {
	case d < 999500*time.Microsecond:
		return strconv.FormatFloat(d.Seconds()*1000, 'g', 3, 64) + " ms"
	case d < 99950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + " s"
	}
	return seconds(d)
}
