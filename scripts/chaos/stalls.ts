/**
 * When this process itself stood still, as while it collects its garbage: it reads an answer late then, which says nothing of
 * who answered.
 */

/** milliseconds between two looks, and that one is late where the process stood still */
const lookEvery = 20;
const noticed = 100;

const stalls: { from: number; to: number }[] = [];
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - last > noticed) stalls.push({ from: last, to: now });
  last = now;
}, lookEvery).unref();

/** Milliseconds of standing still since `since`, by `performance.now()`. */
export function stoodStill(since: number): number {
  let sum = 0;
  for (let at = stalls.length - 1; at >= 0; at -= 1) {
    const { from, to } = stalls[at] ?? { from: 0, to: 0 };
    if (to <= since) break;
    sum += to - Math.max(from, since);
  }
  // the look that tells of one may be still to come
  const now = performance.now();
  return now - last > noticed ? sum + now - Math.max(last, since) : sum;
}
