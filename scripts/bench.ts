/** `npm run bench [-- --quick]`: figures beside their references, measured in one run; also in `.data/bench.json`. */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { accept } from './bench/accept.ts';
import { loadTool } from './bench/load.ts';
import { startBenchStack } from './bench/stack.ts';
import { dataRoot } from './stack/paths.ts';

const quick = process.argv.includes('--quick');
console.log(`${os.cpus().length} × ${os.cpus()[0]?.model}, Node ${process.versions.node}, load by ${loadTool()}`);

const stack = await startBenchStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stack.stop().finally(() => process.exit(130)));
}
try {
  const results = [await accept(stack, quick ? 2 : 5)];
  console.log('name      figure              reference   ratio   target');
  for (const { name, figure, unit, reference, ratio, target, met } of results) {
    const cells = [
      name.padEnd(10),
      `${Math.round(figure)} ${unit}`.padEnd(20),
      String(Math.round(reference)).padEnd(12),
    ];
    console.log(`${cells.join('')}${ratio.toFixed(2).padEnd(8)}≥ ${target} ${met ? 'met' : 'not met'}`);
  }
  writeFileSync(path.join(dataRoot, 'bench.json'), `${JSON.stringify({ at: new Date(), results }, null, 2)}\n`);
  // machines are noisy: only half of the target is a failure
  if (results.some(({ ratio, target }) => ratio < target / 2)) process.exitCode = 1;
} finally {
  await stack.stop();
}
