/**
 * `npm test`: every test, or those whose path contains one of the arguments. The servers that the tests need are
 * started by the tests' own set-up and end with it, also on Ctrl-C.
 */
import { startVitest, type Vitest } from 'vitest/node';

const started = startVitest('test', process.argv.slice(2), { run: true, watch: false });
const codes = { SIGINT: 130, SIGTERM: 143 };
let code: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (code !== undefined) return;
    code = codes[signal];
    const closed = started.then((vitest) => vitest.close());
    closed.catch(() => {}).finally(() => process.exit(code));
  });
}

const vitest = await started;
if (code === undefined) {
  const line = summary(vitest);
  await vitest.close();
  console.log(line);
  process.exit();
}

/** The one line that other programs read. */
function summary({ state }: Vitest): string {
  const tests = state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  const count = (wanted: string) => tests.filter((test) => test.result().state === wanted).length;
  return `${count('passed')} passed, ${count('failed')} failed`;
}
