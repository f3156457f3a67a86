// Command throngbench measures what NUMBERS.md asks for, each row beside its peer or baseline in the same run, and
// writes a Markdown table. It is for developers and is in no package.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "throngbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("throngbench", flag.ContinueOnError)
	pick := flags.String("rows", "", "measure only `1,6`, of the rows that -list shows")
	rounds := flags.Int("rounds", 5, "measure each side so many times")
	file := flags.String("o", "", "write the table to this `file` as well")
	tools := flags.String("tools", ".bin", "keep the peers in this `folder`")
	list := flags.Bool("list", false, "list the rows")
	child := flags.String("child", "", "measure one `row/side` in this process, as the program itself asks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := filepath.Abs(*tools)
	if err != nil {
		return err
	}
	e := env{tools: dir}
	if *child != "" {
		return e.measure(ctx, *child, out)
	}
	all := rows()
	if *pick != "" {
		names := strings.Split(*pick, ",")
		all = slices.DeleteFunc(all, func(r row) bool { return !slices.Contains(names, r.name) })
	}
	if *list {
		for _, r := range all {
			fmt.Fprintf(out, "%-4s %s\n", r.name, r.what)
		}
		return nil
	}
	if len(all) == 0 {
		return fmt.Errorf("there is no row %s; see -list", *pick)
	}
	t := table{rounds: *rounds}
	for _, r := range all {
		l, err := e.row(ctx, r, *rounds)
		if err != nil {
			return err
		}
		t.lines = append(t.lines, l)
	}
	text := t.markdown(ctx)
	if *file != "" {
		if err := os.MkdirAll(filepath.Dir(*file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(*file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, text)
	return err
}

// measure runs one side of a row in this process and prints its figures as a JSON object.
func (e env) measure(ctx context.Context, name string, out io.Writer) error {
	r, s, found := find(name)
	if !found {
		return fmt.Errorf("there is no %s", name)
	}
	dir, err := os.MkdirTemp("", "throngbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e.dir = dir
	f, err := s.run(ctx, e)
	if err != nil {
		return fmt.Errorf("row %s, %s: %w", r.name, s.name, err)
	}
	return json.NewEncoder(out).Encode(f)
}
