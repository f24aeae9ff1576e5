package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/bench/internal/results"
)

// seqgateCounts are the points of the curve.
var seqgateCounts = []int{1, 2, 4, 8}

// strategies are the targets of the part: groups of seqgates, each with a sequence of its own.
var strategies = []string{"for_update", "cas", "increment"}

// seqgatesConns is divisible by all of seqgateCounts.
const seqgatesConns = 32

// heldStep is the most ids in a block, and the sequences' cache.
const heldStep = 100

func measureSeqgates(ctx context.Context, b *bed, p *results.Part) error {
	return b.inDatabase(ctx, func(upstream *mysql.Config) error {
		for _, strategy := range strategies {
			for _, s := range []string{
				"CREATE TABLE %s.%s_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
				"INSERT INTO %s.%s_seq VALUES (0, 1, " + fmt.Sprint(heldStep) + ")"} {
				if _, err := b.db.ExecContext(ctx, fmt.Sprintf(s, upstream.DBName, strategy)); err != nil {
					return err
				}
			}
		}
		for _, n := range b.upTo(seqgateCounts) {
			if err := b.measureSeqgateCount(ctx, p, upstream, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// measureSeqgateCount measures n seqgates on one sequence, for each strategy.
func (b *bed) measureSeqgateCount(ctx context.Context, p *results.Part, upstream *mysql.Config, n int) (err error) {
	var groups targets
	admins := map[string][]string{}
	defer func() { err = errors.Join(err, groups.stop()) }()
	for _, strategy := range strategies {
		group, addrs, err := b.startGroup(ctx, upstream, strategy, n)
		if err := groups.add(group, err); err != nil {
			return err
		}
		admins[strategy] = addrs
	}
	w := &workload{name: "NEXT VALUE", open: func(ctx context.Context, conn driver.Conn, t *target) (operation, error) {
		return textQuery(ctx, conn, func() string { return "SELECT NEXT VALUE FROM " + t.name + "_seq" }), nil
	}}
	points, err := b.cell(ctx, p, cell{workload: w, x: n, conns: seqgatesConns}, groups)
	if err != nil {
		return err
	}
	for i := range points {
		ok, conflicts, err := refills(ctx, admins[points[i].Target])
		if err != nil {
			return err
		}
		points[i].Facts = map[string]float64{"conflicts per 1,000 refills": 1000 * conflicts / ok}
	}
	return nil
}

// startGroup starts n seqgates as one target, and returns their admin addresses too.
func (b *bed) startGroup(ctx context.Context, upstream *mysql.Config, strategy string, n int) (group *target, admins []string, err error) {
	var all targets
	for range n {
		admin, err := freeAddr()
		if err != nil {
			return nil, nil, errors.Join(err, all.stop())
		}
		settings := fmt.Sprintf("admin: {listen: %q}\nsequences: {refill: %s, max_step: %d}\n", admin, strategy, heldStep)
		if err := all.add(startSeqgate(ctx, upstream, b.seqgate, settings)); err != nil {
			return nil, nil, errors.Join(err, all.stop())
		}
		admins = append(admins, admin)
	}
	group = &target{name: strategy, client: all[0].client, ids: bySeqgate, stop: all.stop}
	for i, t := range all {
		group.pids = append(group.pids, t.pids...)
		if i > 0 {
			group.others = append(group.others, t.client)
		}
	}
	return group, admins, nil
}

// refills adds up what the seqgates tell of their refills: those that gave a block, and conflicts.
func refills(ctx context.Context, admins []string) (ok, conflicts float64, err error) {
	for _, admin := range admins {
		metrics, err := get(ctx, "http://"+admin+"/metrics")
		if err != nil {
			return 0, 0, err
		}
		for line := range strings.Lines(metrics) {
			if !strings.HasPrefix(line, "seqgate_sequence_refills_total{") {
				continue
			}
			var n float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' '):], &n); err != nil {
				return 0, 0, fmt.Errorf("%s: %w", line, err)
			}
			switch {
			case strings.Contains(line, `result="ok"`):
				ok += n
			case strings.Contains(line, `result="conflict"`):
				conflicts += n
			}
		}
	}
	if ok == 0 {
		return 0, 0, errors.New("the seqgates tell of no refills")
	}
	return ok, conflicts, nil
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, res.Status)
	}
	return string(text), err
}
