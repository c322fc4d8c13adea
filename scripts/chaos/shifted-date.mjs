// Loaded into a process before everything else: its `Date` is ahead of the machine's by the milliseconds that CLOCK_FILE
// holds, and steps when they change. As with a real step, what `performance.now()` measures goes on evenly.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE;
const real = Date.now;
let ahead = 0;
const look = () => {
  ahead = Number(readFileSync(file, 'utf8'));
};
look();
setInterval(look, 100).unref();

Date.now = () => real() + ahead;
globalThis.Date = new Proxy(Date, {
  apply: () => new Date().toString(),
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [target.now()] : args, made),
});
