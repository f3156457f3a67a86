package run

import (
	"maps"
	"slices"
	"time"
)

// simNode is a machine of a fleet, with what the coordinator knows of it.
type simNode struct {
	fleet  *simFleet
	name   string
	cores  int
	client *simClient
	newest *simOrder   // of the coordinator
	sent   []*simOrder // to the process of the worker
	joined uint64      // the newest session of its process that has joined
	// present, lost, seenAt and heardAt are what the coordinator knows of its connection.
	present, lost   bool
	seenAt, heardAt time.Time
	greeted         int

	life     int // counts its processes
	up       bool
	parted   bool
	leaving  bool
	greeting bool
	greets   int
	hung     time.Time // until when; zero if it does not hang
	beats    bool      // although it hangs
	deferred []func()
	answered time.Time // when a request was sent that the coordinator has answered
	seen     uint64    // the newest order
	order    *simOrder
	waits    bool // for a ticket
	ticks    int
	job      *simJob
}

// run lets a worker do something, once it does not hang.
func (n *simNode) run(do func()) {
	if n.hung.After(n.fleet.at) {
		n.deferred = append(n.deferred, do)
		return
	}
	do()
}

// later lets a worker do something later, unless it was killed.
func (n *simNode) later(d time.Duration, do func()) {
	life := n.life
	n.fleet.after(d, func() {
		if n.life == life {
			n.run(do)
		}
	})
}

// boot starts the process of a worker.
func (n *simNode) boot() {
	if n.up {
		return
	}
	n.fleet.log("%s starts", n.name)
	n.up, n.seen, n.order, n.job, n.leaving, n.ticks = true, 0, nil, nil, false, 0
	n.sent, n.joined = nil, 0
	n.beat()
	n.greet()
	n.later(simBeat/5, n.watch)
	if n.newest != nil {
		n.fleet.pushOrder(n, n.newest)
	}
}

// kill ends the process of a worker.
func (n *simNode) kill() {
	if n.up {
		n.fleet.log("%s is killed", n.name)
	}
	n.life++
	n.up, n.job, n.hung, n.beats, n.deferred, n.waits = false, nil, time.Time{}, false, nil, false
}

// part cuts a worker off for a while.
func (n *simNode) part(d time.Duration) {
	n.parted = true
	n.fleet.after(d, func() { n.parted = false })
}

// hang lets a worker do nothing for a while. The transport may continue to say that it is alive.
func (n *simNode) hang(d time.Duration, beats bool) {
	if !n.up || !n.hung.IsZero() {
		return
	}
	n.hung, n.beats = n.fleet.at.Add(d), beats
	life := n.life
	n.fleet.after(d, func() {
		if n.life == life {
			n.wake()
		}
	})
}

func (n *simNode) wake() {
	if n.hung.IsZero() {
		return
	}
	n.fleet.log("%s wakes up", n.name)
	n.hung, n.beats = time.Time{}, false
	deferred := n.deferred
	n.deferred = nil
	if n.job != nil && n.silent() { // its timers have expired
		n.rejoin()
	}
	for _, do := range deferred {
		do()
	}
}

// heal ends what disturbs a worker.
func (n *simNode) heal() {
	n.parted = false
	n.wake()
}

func (n *simNode) silent() bool { return n.fleet.at.Sub(n.answered) > simParted }

// rejoin ends the work on the run and joins again.
func (n *simNode) rejoin() {
	n.fleet.log("%s parts", n.name)
	n.job, n.waits, n.joined = nil, false, 0
	n.greet()
}

// greet joins as soon as the coordinator answers.
func (n *simNode) greet() {
	n.greeting = true
	n.greets++
	life, number := n.life, n.greets
	request(n, func() bool { return n.life == life && n.greeting }, func(answer func(bool)) {
		n.fleet.greet(n, number)
		answer(true)
	}, func(_ bool, sent time.Time) {
		n.greeting, n.answered = false, sent
		n.apply()
	})
}

// beat tells the coordinator that the worker is alive.
func (n *simNode) beat() {
	f, life := n.fleet, n.life
	f.after(simBeat, func() {
		if n.life == life {
			n.beat()
		}
	})
	if n.hung.After(f.at) && !n.beats {
		return
	}
	sent := f.at
	n.toCoordinator(func() {
		f.beat(n)
		n.carry(func() {
			if n.beats {
				n.heard(sent)
			} else {
				n.run(func() { n.heard(sent) })
			}
		})
	})
}

func (n *simNode) heard(sent time.Time) { n.answered = maxTime(n.answered, sent) }

// watch gives up when the coordinator does not answer, reports, and keeps the leases.
func (n *simNode) watch() {
	n.later(simBeat/5, n.watch)
	j := n.job
	if j == nil || n.greeting {
		return
	}
	if j.refused || n.silent() {
		n.rejoin()
		return
	}
	if !j.ready {
		return
	}
	if n.ticks++; n.ticks%4 == 0 {
		n.waits = n.waits || j.fetching
		n.fleet.match()
		j.send()
	}
	if n.ticks%5 == 0 {
		for _, shard := range slices.Sorted(maps.Keys(j.leases)) {
			d := j.leases[shard].delivery
			n.toCoordinator(func() { d.extend(n.fleet) })
		}
	}
	if n.leaving && len(j.running) == 0 && len(j.frames) == 0 && j.pending == 0 {
		f := n.fleet
		n.toCoordinator(func() { f.lose(n) })
		n.kill()
	}
}

// leave ends a worker that completes its sessions.
func (n *simNode) leave() {
	if j := n.job; j != nil && n.up && j.ready && !n.leaving && n.hung.IsZero() {
		n.leaving = true
		j.order.limit, j.order.drains, j.limit = 0, true, 0
		j.giveBack(len(j.queue))
		j.fetch()
	}
}

// receive takes an order.
func (n *simNode) receive(o *simOrder) {
	if o.number > n.seen && !n.leaving {
		n.seen, n.order = o.number, o
		n.apply()
	}
}

// apply does what the newest order says.
func (n *simNode) apply() {
	o, j := n.order, n.job
	if n.greeting || o == nil {
		return
	}
	if j != nil && j.session != o.session {
		n.job, n.waits, j = nil, false, nil
	}
	if j == nil {
		j = &simJob{node: n, session: o.session, cycle: -1, leases: map[uint64]*simLeased{}, canceled: map[simCanceled]bool{}}
		n.job = j
		life := n.life
		request(n, j.isOpen, func(answer func(bool)) {
			n.fleet.join(n, j.session, life)
			answer(true)
		}, func(bool, time.Time) {
			j.ready = true
			n.apply()
		})
		return
	}
	if j.ready {
		j.apply(o)
	}
}
