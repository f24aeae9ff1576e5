package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/bench/internal/report"
)

// tick is the unit of CPU times in /proc on every Linux platform (USER_HZ).
const tick = 10 * time.Millisecond

// cpuTime returns the CPU time that a process has used so far, in user and kernel mode, in steps of
// 10 ms.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseCPUTime(stat)
}

// parseCPUTime reads fields 14 and 15 of /proc/PID/stat, see proc(5). The second field, the program's
// name in parentheses, may hold spaces and parentheses itself.
func parseCPUTime(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from field 3 on
	if len(fields) < 13 {
		return 0, fmt.Errorf("%q is no /proc/PID/stat", stat)
	}
	var ticks time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += time.Duration(n)
	}
	return ticks * tick, nil
}

// residentMemory returns the bytes of a process that are in memory.
func residentMemory(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	var kib int64
	_, err = fmt.Sscanf(report.Line(string(status), "VmRSS:"), "VmRSS: %d kB", &kib)
	return kib << 10, err
}
