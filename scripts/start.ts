/** `npm start`: all that the service needs, from a bare clone, until Ctrl-C. */
import path from 'node:path';
import { takeLock } from './lock.mjs';
import { Advice, tell } from './stack/advice.ts';
import { dataRoot, ensureDataRoot } from './stack/paths.ts';
import { bringUp } from './start/bring-up.ts';
import { readPrivate, removePrivate } from './start/files.ts';
import { createRunning } from './start/running.ts';
import { failure } from './start/service.ts';
import { summary } from './start/summary.ts';

/** A terminal and npm may both pass on one Ctrl-C; only a signal after this many milliseconds is a second one. */
const ONE_CTRL_C = 1_000;

const running = createRunning();
const interrupt = new AbortController();
const interrupted = new Promise<void>((resolve) => interrupt.signal.addEventListener('abort', () => resolve()));
let interruptedAt: number | undefined;

function onSignal() {
  if (interruptedAt === undefined) {
    interruptedAt = performance.now();
    console.log('\nstopping …');
    interrupt.abort();
  } else if (performance.now() - interruptedAt > ONE_CTRL_C) {
    running.killAll();
    removePrivate('env');
    process.exit(1);
  }
}

async function main() {
  ensureDataRoot();
  const release = takeLock(path.join(dataRoot, 'start-lock'));
  if (release === undefined) throw new Advice(alreadyRunning());
  for (const stale of ['env', 'demo.json']) removePrivate(stale);
  try {
    const { facts, services } = await bringUp(running, interrupt.signal);
    console.log(summary(facts));
    const ended = Promise.race(services.map(failure));
    const problem = await Promise.race([ended, interrupted]);
    if (problem !== undefined) throw problem;
  } finally {
    removePrivate('env');
    removePrivate('demo.json');
    await running.stopAll();
    release();
  }
}

function alreadyRunning(): string {
  const demo: { baseUrl: string } | null = JSON.parse(readPrivate('demo.json') ?? 'null');
  return `npm start is already running in this folder${demo ? `, at ${demo.baseUrl}` : ''}.`;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
// Whoever reads our output may leave before we end.
process.stdout.on('error', () => {});

try {
  await main();
} catch (error) {
  if (!interrupt.signal.aborted) {
    console.error(tell(error));
    process.exitCode = 1;
  }
}
process.exit();
