// Sessions of a graph whose nodes add, 50 at once: the graph is compiled once and invoked for each agent. Its arguments
// are the folder with the packages, which graph, whether it keeps checkpoints, and how many sessions and seconds.
import { createRequire } from "node:module";

const [folder, name, keeps, warm, seconds] = process.argv.slice(1);
const { Annotation, MemorySaver, START, END, StateGraph } = createRequire(folder + "/")("@langchain/langgraph");

const graphs = {
  sequence: () =>
    state("agent", "a", "b", "c", "d", "e")
      .addNode("A", (s) => ({ a: s.agent + 1 }))
      .addNode("B", (s) => ({ b: s.a + 1 }))
      .addNode("C", (s) => ({ c: s.b + 1 }))
      .addNode("D", (s) => ({ d: s.c + 1 }))
      .addNode("E", (s) => ({ e: s.d + 1 }))
      .addEdge(START, "A").addEdge("A", "B").addEdge("B", "C").addEdge("C", "D").addEdge("D", "E").addEdge("E", END),
  diamond: () =>
    state("agent", "a", "b", "c", "d")
      .addNode("A", (s) => ({ a: s.agent + 1 }))
      .addNode("B", (s) => ({ b: s.a + 1 }))
      .addNode("C", (s) => ({ c: s.a + 1 }))
      .addNode("D", (s) => ({ d: s.b + s.c }))
      .addEdge(START, "A").addEdge("A", "B").addEdge("A", "C").addEdge(["B", "C"], "D").addEdge("D", END),
};
const state = (...fields) => new StateGraph(Annotation.Root(Object.fromEntries(fields.map((f) => [f, Annotation()]))));
const right = { sequence: (s, i) => s.e === i + 5, diamond: (s, i) => s.d === 2 * i + 4 };

// With durability "exit" it saves when a session ends, as its guide advises for speed.
const graph = graphs[name]().compile(keeps === "true" ? { checkpointer: new MemorySaver() } : {});
const options = keeps === "true" ? (i) => ({ configurable: { thread_id: String(i) }, durability: "exit" }) : () => undefined;

let done = 0;
async function fifty() {
  const first = done;
  const states = await Promise.all(Array.from({ length: 50 }, (_, i) => graph.invoke({ agent: first + i }, options(first + i))));
  const wrong = states.findIndex((s, i) => !right[name](s, first + i));
  if (wrong >= 0) throw new Error(`agent ${first + wrong}: ${JSON.stringify(states[wrong])}`);
  done += states.length;
}

while (done < warm) await fifty(); // until the code is compiled well
const before = done, began = performance.now(), used = process.cpuUsage();
while (performance.now() - began < seconds * 1000) await fifty();
const took = (performance.now() - began) / 1000, cpu = process.cpuUsage(used), sessions = done - before;
console.log(JSON.stringify({ "sessions/s": sessions / took, "CPU µs/session": (cpu.user + cpu.system) / sessions }));
