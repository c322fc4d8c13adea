/** `npm start`: runs everything that the service needs, from a bare clone, until Ctrl-C. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { takeLock } from './lock.mjs';
import { Advice, explain } from './stack/advice.ts';
import { ensureDataRoot } from './stack/paths.ts';
import { onInterrupt } from './stack/private-stores.ts';
import { bringUp, type Running, summary } from './start/bring-up.ts';
import { failure } from './start/services.ts';
import { readPrivate, removePrivate } from './start/settings.ts';

// throws on any option: there are none
parseArgs();
const running: Running = { parts: [], stopping: false };
const signal = onInterrupt(() => {
  for (const part of running.parts) part.kill();
  removePrivate('env');
  process.exit(1);
});
const interrupted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
// the reader of our output may close it before we end
process.stdout.on('error', () => {});

const release = takeLock(path.join(ensureDataRoot(), 'start-lock'));
if (release === undefined) {
  const demo: { baseUrl: string } | null = JSON.parse(readPrivate('demo.json') ?? 'null');
  throw new Advice(`npm start is already running in this folder${demo ? `, at ${demo.baseUrl}` : ''}.`);
}
// left by a run that was killed
removePrivate('env', 'demo.json');
try {
  const { facts, services } = await bringUp(running, signal);
  console.log(summary(facts));
  const problem = await Promise.race([...services.map(failure), interrupted]);
  if (problem !== undefined) throw problem;
} catch (error) {
  if (!signal.aborted) {
    console.error(explain(error));
    process.exitCode = 1;
  }
} finally {
  removePrivate('env', 'demo.json');
  running.stopping = true;
  for (const part of running.parts.reverse()) await part.stop();
  release();
}
process.exit();
