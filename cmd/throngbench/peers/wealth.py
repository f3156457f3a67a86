"""Boltzmann wealth exchange, as a plain loop over objects: agents, cycles. Messages are delivered in the next cycle."""

import json
import random
import sys
import time


class Agent:
    def __init__(self, name):
        self.name, self.memory, self.inbox, self.arriving = name, {"wealth": 1}, [], []

    def step(self, agents, draw):
        wealth = self.memory["wealth"] + len(self.inbox)
        if wealth > 0:
            to = agents[int(draw.uniform(0, len(agents)))]
            to.arriving.append({"sender": self.name, "text": "1"})
            wealth -= 1
        self.memory["wealth"] = wealth


def main(count, cycles):
    draw = random.Random(1)
    agents = [Agent("a%d" % i) for i in range(count)]
    used = time.process_time()
    for _ in range(cycles):
        for a in agents:
            a.step(agents, draw)
        for a in agents:
            a.inbox, a.arriving = a.arriving, []
    used = time.process_time() - used
    assert sum(a.memory["wealth"] + len(a.inbox) for a in agents) == count
    print(json.dumps({"CPU µs/session": used * 1e6 / count / cycles}))


main(int(sys.argv[1]), int(sys.argv[2]))
