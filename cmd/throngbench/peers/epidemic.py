"""An epidemic (SIR) on a ring with shortcuts, as a plain loop over objects: agents, cycles. Infections count in the next cycle."""

import json
import random
import sys
import time


class Agent:
    def __init__(self, index, count):
        self.memory, self.inbox, self.arriving = {"state": "I" if index % 100 == 0 else "S"}, [], []
        self.name = "a%d" % index
        self.friends = [(index + d) % count for d in (1, -1, 2, -2, 7, -7, 61, -61)]

    def step(self, agents, draw):
        state = self.memory["state"]
        if state == "S" and len(self.inbox) > 0:
            state = "I"
        if state == "I":
            for f in self.friends:
                if draw.random() < 0.05:
                    agents[f].arriving.append({"sender": self.name, "text": "cough"})
            if draw.random() < 0.1:
                state = "R"
        self.memory["state"] = state


def main(count, cycles):
    draw = random.Random(1)
    agents = [Agent(i, count) for i in range(count)]
    used = time.process_time()
    for _ in range(cycles):
        for a in agents:
            a.step(agents, draw)
        for a in agents:
            a.inbox, a.arriving = a.arriving, []
    used = time.process_time() - used
    assert any(a.memory["state"] == "R" for a in agents)
    print(json.dumps({"CPU µs/session": used * 1e6 / count / cycles}))


main(int(sys.argv[1]), int(sys.argv[2]))
