package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

func (c *comparison) flags(fs *flag.FlagSet) {
	c.parts = partNames()
	fs.Func("peers", "measure beside these peers, a `list` of haproxy, mysqlrouter and vitess, or all, or none", func(s string) (err error) {
		c.peers, err = parsePeers(s)
		return err
	})
	fs.Func("parts", "with --peers: measure only these parts, a `list` of "+strings.Join(partNames(), ", "), func(s string) (err error) {
		c.parts, err = oneOf(s, partNames())
		return err
	})
	fs.StringVar(&c.file, "results", "bench/results/peers.json", "with --peers: keep what is measured in this `file`, after each part")
	fs.BoolVar(&c.resume, "resume", false, "with --peers: go on with the run in the file of results; parts that are in it are not measured again")
	fs.Func("from", "measure nothing, and report what is in these `files` of results of one run", func(s string) error {
		c.from = strings.Split(s, ",")
		return nil
	})
	fs.StringVar(&c.docs, "docs", "", "with --peers or --from: write the report between the markers in this Markdown `file`, and the figures to the folder images beside it")
}

func allPeers() (names []string) {
	for _, h := range hops {
		names = append(names, h.program)
	}
	return append(names, peerVitess)
}

func parsePeers(list string) ([]string, error) {
	switch list {
	case "all":
		return allPeers(), nil
	case "none":
		return []string{}, nil
	}
	return oneOf(list, allPeers())
}

// oneOf splits a list whose items are among the known ones.
func oneOf(list string, known []string) ([]string, error) {
	items := strings.Split(list, ",")
	for _, item := range items {
		if !slices.Contains(known, item) {
			return nil, fmt.Errorf("%q is none of %s", item, strings.Join(known, ", "))
		}
	}
	return items, nil
}
