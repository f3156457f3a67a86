// The journey of journey.yaml as k6's users write it, with what k6's documentation advises for large tests: bodies are
// discarded where nothing is read of them, few tags, one name for addresses that differ, no thresholds.
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE;
const vus = Number(__ENV.VUS);
const categories = ['Dairy', 'Fruit', 'Bakery'];

export const options = {
  discardResponseBodies: true,
  insecureSkipTLSVerify: true, // of row 6s
  systemTags: ['status', 'name'],
  summaryTrendStats: ['avg'],
  scenarios: {
    journeys: __ENV.DURATION
      ? { executor: 'constant-vus', vus, duration: __ENV.DURATION, gracefulStop: '30s' }
      : { executor: 'per-vu-iterations', vus, iterations: 1, maxDuration: '60s' },
  },
};

const wants = (name, responseType) => ({ responseType, headers: { 'Content-Type': 'application/json' }, tags: { name } });
const [entered, browsed, added, couponed, ordered] = ['enter', 'browse', 'add', 'coupons', 'order'].map((n) => wants(n, 'text'));
const created = { 'is created': (r) => r.status === 201 };
const ok = { 'is ok': (r) => r.status === 200 };

export default function () {
  const category = categories[Math.floor(Math.random() * categories.length)];
  const quantity = 1 + Math.floor(Math.random() * 3);

  const enter = http.post(`${base}/sessions`, JSON.stringify({ user: `shopper-${__VU}-${__ITER}` }), entered);
  if (!check(enter, created)) return;
  const session = `${base}/sessions/${enter.json('session.id')}`;

  const browse = http.get(`${base}/products?category=${category}&limit=8`, browsed);
  if (!check(browse, ok)) return;

  const add = http.post(`${session}/items`, JSON.stringify({ product_id: browse.json('products.0.id'), quantity }), added);
  if (!check(add, ok)) return;

  const coupons = http.get(`${session}/coupons`, couponed);
  if (!check(coupons, ok)) return;

  const order = http.post(`${session}/orders`,
    JSON.stringify({ coupon: coupons.json('eligible.0.id'), total: add.json('cart.total') }), ordered);
  check(order, created);
}

export function handleSummary({ metrics, state }) {
  const seconds = state.testRunDurationMs / 1000;
  const count = (name) => (metrics[name] ? metrics[name].values.count : 0);
  return {
    stdout: JSON.stringify({
      journeys: count('iterations'),
      requests: count('http_reqs'),
      failed: metrics.checks.values.fails,
      'journeys/s': count('iterations') / seconds,
      'requests/s': count('http_reqs') / seconds,
    }) + '\n',
  };
}
