// Command film makes the moving picture of the README: a run is killed with SIGKILL, resumed, and compared with a run that nothing
// disturbed, at another concurrency. The programs really run; only the time between their lines is shorter in the picture.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"image/gif"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	ctl := flag.String("ctl", filepath.Join("bin", "throngctl"), "the terminal program")
	out := flag.String("out", filepath.Join("assets", "pictures", "resume.gif"), "the picture to write")
	flag.Parse()
	if err := film(context.Background(), *ctl, *out); err != nil {
		fmt.Fprintln(os.Stderr, "film:", err)
		os.Exit(1)
	}
}

// columns is the width of the picture in characters, and rows its height.
const columns, rows = 92, 21

// Pauses after a line, in hundredths of a second.
const (
	glance = 25
	moment = 90
	read   = 450
)

// film executes the story and writes it.
func film(ctx context.Context, ctl, out string) (err error) {
	ctl, err = filepath.Abs(ctl)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "throng-film-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := newPainter()
	if err != nil {
		return err
	}
	s := &story{ctx: ctx, ctl: ctl, dir: dir, painter: p}
	if err := s.tell(); err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(gif.EncodeAll(f, &p.film), f.Close())
}

// story is a film that is being made.
type story struct {
	ctx      context.Context
	ctl, dir string
	painter  *painter
}

func (s *story) tell() error {
	const run = "run shopping --cycles 20 --seed 7"
	s.typed("throngctl " + run)
	if err := s.play(run, 2); err != nil {
		return err
	}
	s.said("Killed: kill -9", alert, moment)
	s.typed("throngctl resume")
	if err := s.play("resume", 0); err != nil {
		return err
	}
	first, err := s.results("export --what sessions -o killed.csv", "killed.csv")
	if err != nil {
		return err
	}
	s.typed("throngctl --data other " + run + " --max-concurrent 5")
	if err := s.play("--data other "+run+" --max-concurrent 5", 0); err != nil {
		return err
	}
	second, err := s.results("--data other export --what sessions -o undisturbed.csv", "undisturbed.csv")
	if err != nil {
		return err
	}
	s.typed("sha256sum killed.csv undisturbed.csv")
	s.said(first+"  killed.csv", plain, glance)
	s.said(second+"  undisturbed.csv", plain, glance)
	if first != second {
		return errors.New("the results differ")
	}
	s.said("The same bytes: killed and resumed, or undisturbed with another limit.", good, read)
	return nil
}

// command prepares a command line, in the folder of the story.
func (s *story) command(line string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, s.ctl, strings.Fields(line)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "THRONG_DATA="+filepath.Join(s.dir, "data"))
	return cmd
}

// play executes a run and shows its progress. With a number, the process is killed after so many lines.
func (s *story) play(line string, kill int) error {
	cmd := s.command(line + " --no-dashboard")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	progress := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text := lines.Text()
		switch {
		case strings.Contains(text, " of ") && strings.Contains(text, "cycles done"):
			before, _, _ := strings.Cut(text, "  cycle time")
			s.said(before, plain, glance)
			if progress++; progress == kill {
				if err := cmd.Process.Kill(); err != nil {
					return err
				}
			}
		case strings.HasPrefix(text, "run "), strings.HasPrefix(text, "resuming "):
			s.said(text, plain, glance)
		case strings.HasPrefix(text, "finished"), strings.HasPrefix(text, "  sessions ") && strings.Contains(text, "("), strings.HasPrefix(text, "  result "):
			s.said(text, plain, moment)
		}
	}
	err = cmd.Wait()
	switch {
	case kill > 0 && progress < kill:
		return fmt.Errorf("the run ended before it was killed: %w", err)
	case kill == 0 && err != nil:
		return fmt.Errorf("%s: %w: %s", line, err, errs.String())
	}
	return nil
}

// results shows an export and returns the SHA-256 of its file.
func (s *story) results(line, file string) (string, error) {
	s.typed("throngctl " + line)
	if out, err := s.command(line).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	f, err := os.Open(filepath.Join(s.dir, file))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return fmt.Sprintf("%x", sum.Sum(nil)), errors.Join(err, f.Close())
}

// typed shows a command line.
func (s *story) typed(text string) {
	s.painter.add("$ "+text, prompt)
	s.painter.shoot(moment)
}

// said shows a line of a program.
func (s *story) said(text string, c color, pause int) {
	s.painter.add(text, c)
	s.painter.shoot(pause)
}
