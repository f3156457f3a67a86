// Command throngbench measures what NUMBERS.md asks for, each row beside its peer or baseline in the same run, and
// writes a Markdown table. With "guard" it compares what the core benchmarks cost with an older revision. It is for
// developers and is in no package.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := start(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "throngbench:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "guard" {
		return guard(ctx, args[1:], out)
	}
	flags := flag.NewFlagSet("throngbench", flag.ContinueOnError)
	pick := flags.String("rows", "", "measure only `1,6`, of the rows that -list shows")
	scale := flags.Bool("scale", false, "measure the rows of scale, which take long, instead of the others")
	rounds := flags.Int("rounds", 5, "measure each side so many times")
	file := flags.String("o", "", "write the table to this `file.md` as well, and its figures to file.json")
	old := flags.String("before", "", "put the figures of this earlier `file.json` beside the new ones")
	tools := flags.String("tools", ".bin", "keep the peers in this `folder`")
	list := flags.Bool("list", false, "list the rows")
	child := flags.String("child", "", "measure one `row/side` in this process, as the program itself asks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s means nothing here", flags.Arg(0))
	}
	if *rounds < 1 {
		return fmt.Errorf("%d rounds measure nothing", *rounds)
	}
	dir, err := filepath.Abs(*tools)
	if err != nil {
		return err
	}
	e := env{tools: dir}
	if *child != "" {
		return e.measure(ctx, *child, out)
	}
	all, err := pickRows(rows(), *pick, *scale)
	if err != nil {
		return err
	}
	if *list {
		for _, r := range all {
			fmt.Fprintf(out, "%-4s %s\n", r.name, r.what)
		}
		return nil
	}
	var before *measured
	if *old != "" {
		if before, err = readMeasured(*old); err != nil {
			return err
		}
	}
	m := measured{Machine: measuredOn(ctx), Rounds: *rounds}
	failed := 0
	for _, r := range all {
		l := e.row(ctx, r, *rounds)
		failed += l.failed()
		m.Rows = append(m.Rows, l.measured())
		// What was measured is kept, whatever becomes of the next row.
		if *file != "" {
			if err := m.write(*file, before); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	if _, err = io.WriteString(out, m.markdown(before)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("stopped; the table has what was measured until then")
	}
	if failed > 0 {
		return fmt.Errorf("%d sides could not be measured to their end; the table says which", failed)
	}
	return nil
}

// pickRows returns the rows whose names are picked, or, where none is, those of scale or all others.
func pickRows(all []row, pick string, scale bool) ([]row, error) {
	if pick == "" {
		all = slices.DeleteFunc(all, func(r row) bool { return r.scale != scale })
		if len(all) == 0 {
			return nil, errors.New("there are no such rows")
		}
		return all, nil
	}
	names := strings.Split(pick, ",")
	for _, name := range names {
		if !slices.ContainsFunc(all, func(r row) bool { return r.name == name }) {
			return nil, fmt.Errorf("there is no row %s; see -list, and -list -scale", name)
		}
	}
	return slices.DeleteFunc(all, func(r row) bool { return !slices.Contains(names, r.name) }), nil
}

// measure runs one side of a row in this process and prints its figures as a JSON object.
func (e env) measure(ctx context.Context, name string, out io.Writer) error {
	s, found := find(rows(), name)
	if !found {
		return fmt.Errorf("there is no %s", name)
	}
	dir, err := os.MkdirTemp("", "throngbench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	e.dir = dir
	f, err := s.run(ctx, e)
	if err != nil {
		return err
	}
	maps.DeleteFunc(f, func(_ string, v float64) bool { return math.IsNaN(v) }) // what was not measured is left out
	return json.NewEncoder(out).Encode(f)
}

// say tells whoever waits how far it is.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
