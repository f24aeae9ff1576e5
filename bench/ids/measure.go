package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// result is what was measured of a generator.
type result struct {
	*contender
	allocations float64     // a call
	rates       [][]float64 // ids/s by index of config.goroutines and round
	cpu         [][]float64 // seconds of processors an id, by the same
}

// measure measures all generators. The first round is a warm-up that is not counted.
func measure(cfg *config) (results []result, err error) {
	all := contenders()
	for i := range all {
		c := &all[i]
		calls, stop, err := c.open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		defer func() { err = errors.Join(err, stop()) }()
		c.calls = calls
		n, err := allocations(calls)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		results = append(results, result{contender: c, allocations: n, rates: make([][]float64, len(cfg.goroutines)),
			cpu: make([][]float64, len(cfg.goroutines))})
	}
	for round := range cfg.rounds + 1 {
		for g, goroutines := range cfg.goroutines {
			for i := range results {
				r := &results[(i+round)%len(results)]
				rate, cpu, err := r.slice(cfg.slice, goroutines)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r.name, err)
				}
				if round > 0 {
					r.rates[g] = append(r.rates[g], rate)
					r.cpu[g] = append(r.cpu[g], cpu)
				}
			}
		}
	}
	return results, nil
}

// batch is how many calls are made between two looks at the time.
const batch = 64

// slice returns the ids/s of goroutines together, and the seconds of processors that an id took: on a machine that has
// other work, that is what tells the cost.
func (c *contender) slice(d time.Duration, goroutines int) (rate, cpu float64, err error) {
	var (
		over  atomic.Bool
		done  atomic.Int64 // calls
		all   sync.WaitGroup
		errs  = make([]error, goroutines)
		began = time.Now()
	)
	before, err := cpuTime()
	if err != nil {
		return 0, 0, err
	}
	timer := time.AfterFunc(d, func() { over.Store(true) })
	defer timer.Stop()
	for i := range goroutines {
		all.Go(func() {
			n := int64(0)
			for n == 0 || errs[i] == nil && !over.Load() { // once at least
				errs[i] = c.calls(batch)
				n += batch
			}
			done.Add(n)
		})
	}
	all.Wait()
	elapsed := time.Since(began)
	after, err := cpuTime()
	ids := float64(done.Load() * int64(c.block))
	return ids / elapsed.Seconds(), (after - before).Seconds() / ids, errors.Join(append(errs, err)...)
}

// cpuTime is what this process has used so far, in user and kernel mode.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, os.NewSyscallError("getrusage", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// allocations returns how many there are in a call.
func allocations(calls func(int) error) (float64, error) {
	const n = 1000
	if err := calls(batch); err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := calls(n)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / n, err
}
