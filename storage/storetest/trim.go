package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// points is a run with checkpoints, and the memory that each must restore.
type points struct {
	*fixture
	number int // of the newest
	memory map[int]*engine.Memory
	want   map[int]map[int]*engine.Memory
}

// add adds a checkpoint in which some agents remember more.
func (p *points) add(agents ...int) {
	p.t.Helper()
	p.number++
	changed := map[int]*engine.Memory{}
	for _, agent := range agents {
		delta := remembers("visits", fmt.Sprint(p.number, agent))
		p.memory[agent] = p.memory[agent].Apply(&delta)
		changed[agent] = p.memory[agent]
	}
	p.want[p.number] = maps.Clone(p.memory)
	p.append(engine.BarrierRow{Cycle: p.number - 1, At: at(p.number)})
	p.commit(engine.CheckpointRow{At: at(p.number), Cycle: p.number, Reason: "by hand", Memory: changed})
}

func (p *points) check() {
	p.t.Helper()
	all, err := p.Checkpoints(p.t.Context(), p.run)
	must(p.t, err)
	if len(all) != len(p.want) {
		p.t.Fatalf("got %d checkpoints, want %d", len(all), len(p.want))
	}
	for _, c := range all {
		_, _, restored, err := p.Checkpoint(p.t.Context(), p.run, c.Number)
		must(p.t, err)
		if !reflect.DeepEqual(restored, p.want[c.Number]) {
			p.t.Fatalf("checkpoint %d of %d restores other memory", c.Number, p.number)
		}
	}
}

// bytes returns the size of the run's checkpoints.
func (p *points) bytes() int64 {
	p.t.Helper()
	r, err := p.Run(p.t.Context(), p.run)
	must(p.t, err)
	return r.SizeBytes
}

// testDeleteCheckpoints deletes some checkpoints and checks that all others restore the same memory. The newest checkpoint,
// and those of a run in progress, cannot be deleted.
func testDeleteCheckpoints(t *testing.T, open Open) {
	r := record("r")
	r.Settings.KeepCheckpoints = 100
	p := &points{fixture: newFixture(t, open, r), memory: map[int]*engine.Memory{}, want: map[int]map[int]*engine.Memory{}}
	const seed = 20261122
	draw := rand.New(rand.NewPCG(seed, 0))
	for range 25 {
		for range 1 + draw.IntN(3) {
			p.add(draw.Perm(12)[:draw.IntN(8)]...)
		}
		older := slices.DeleteFunc(slices.Sorted(maps.Keys(p.want)), func(n int) bool { return n == p.number })
		draw.Shuffle(len(older), func(i, j int) { older[i], older[j] = older[j], older[i] })
		going := older[:min(draw.IntN(4), len(older))]
		weight, err := p.WeighCheckpoints(t.Context(), p.run, going)
		must(t, err)
		before := p.bytes()
		must(t, p.DeleteCheckpoints(t.Context(), p.run, going))
		for _, n := range going {
			delete(p.want, n)
		}
		if after := p.bytes(); before-after != weight || len(going) > 0 && weight <= 0 {
			t.Fatalf("without %v the checkpoints have %d bytes, before %d; want %d fewer", going, after, before, weight)
		}
		p.check()
	}
	p.reopen()
	p.check()

	var mistake *engine.FieldError
	if err := p.DeleteCheckpoints(t.Context(), p.run, []int{p.number}); !errors.As(err, &mistake) {
		t.Errorf("the newest: got %v, want a *engine.FieldError", err)
	}
	if err := p.DeleteCheckpoints(t.Context(), p.run, []int{p.number + 1}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("an unknown one: got %v, want ErrNotFound", err)
	}
	p.add()
	release, err := p.Claim(t.Context(), p.run)
	must(t, err)
	if err := p.DeleteCheckpoints(t.Context(), p.run, []int{p.number - 1}); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("of a run in progress: got %v, want ErrInUse", err)
	}
	release()
	p.check()
}
