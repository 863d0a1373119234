// Command dev measures holodeck's embedded Temporal server against the same
// server module with the settings of `temporal server start-dev`.
//
// In go the number of rounds and workflows; out comes a markdown table of
// medians and their ratios. Each measurement is a fresh child process that
// hosts the server, the Web UI, one client and one worker, so both sides are
// built, linked and loaded alike. The rounds of the two sides are interleaved.
// It measures nothing but this machine at this moment.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

func main() {
	var b bench
	flag.IntVar(&b.rounds, "rounds", 5, "measurements of each kind")
	flag.IntVar(&b.single, "single", 300, "workflows one at a time")
	flag.IntVar(&b.many, "many", 1000, "workflows at concurrency 20")
	child := flag.String("child", "", "measure one server (ours or plain) and print JSON")
	file := flag.String("file", "", "database file of the child; empty is memory")
	born := flag.Int64("born", 0, "when the child was started, in Unix nanoseconds")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the child's throughput")
	dynamic := flag.String("dynamic", "", "one dynamic setting KEY=JSON for ours")
	flag.Parse()
	var err error
	if *child != "" {
		err = b.measure(context.Background(), subject{*child, *file, time.Unix(0, *born), *profile, *dynamic})
	} else {
		err = b.compare(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bench is one run of the comparison.
type bench struct{ rounds, single, many int }

// figures are what one child measured: times in milliseconds.
type figures struct {
	First, P50, P99, Max, Rate, RSS, Stop float64
}

func (b bench) compare(ctx context.Context) error {
	found := map[string][]figures{}
	for range b.rounds {
		for _, store := range []string{"memory", "file"} {
			for _, who := range []string{"plain", "ours"} {
				f, err := b.spawn(ctx, who, store)
				if err != nil {
					return fmt.Errorf("measure %s in %s: %w", who, store, err)
				}
				fmt.Fprintf(os.Stderr, "%s %s %+v\n", who, store, f)
				found[store+who] = append(found[store+who], f)
			}
		}
	}
	fmt.Println("| store | measure | start-dev's settings | holodeck | ratio |\n| --- | --- | --- | --- | --- |")
	for _, store := range []string{"memory", "file"} {
		for _, m := range measures() {
			plain, ours := median(found[store+"plain"], m.of), median(found[store+"ours"], m.of)
			fmt.Printf("| %s | %s | %.*f | %.*f | %.2f |\n", store, m.name, m.digits, plain, m.digits, ours, ours/plain)
		}
	}
	return nil
}

type measureOf struct {
	name   string
	digits int
	of     func(figures) float64
}

func measures() []measureOf {
	return []measureOf{
		{"process start to first workflow done, ms", 0, func(f figures) float64 { return f.First }},
		{"one at a time, p50, ms", 1, func(f figures) float64 { return f.P50 }},
		{"one at a time, p99, ms", 1, func(f figures) float64 { return f.P99 }},
		{"one at a time, worst, ms", 0, func(f figures) float64 { return f.Max }},
		{"20 at a time, workflows/s", 0, func(f figures) float64 { return f.Rate }},
		{"resident memory 1 s after the first workflow, MiB", 0, func(f figures) float64 { return f.RSS }},
		{"stop, ms", 0, func(f figures) float64 { return f.Stop }},
	}
}

func (b bench) spawn(ctx context.Context, who, store string) (figures, error) {
	var f figures
	dir, err := os.MkdirTemp("", "bench-dev-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of ours in the temporary one
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	args := []string{"-child", who, "-single", strconv.Itoa(b.single), "-many", strconv.Itoa(b.many)}
	if store == "file" {
		args = append(args, "-file", filepath.Join(dir, "bench.db"))
	}
	args = append(args, "-born", strconv.FormatInt(time.Now().UnixNano(), 10))
	out, err := exec.CommandContext(ctx, self, args...).Output()
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(out, &f)
}

func median(all []figures, of func(figures) float64) float64 {
	var v []float64
	for _, f := range all {
		v = append(v, of(f))
	}
	slices.Sort(v)
	return v[len(v)/2]
}
