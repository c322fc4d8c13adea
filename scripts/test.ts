/**
 * `npm test`: every test, or those whose path contains one of the arguments. The servers that the tests need are
 * started by the tests' own set-up and end with it, also on Ctrl-C.
 */
import { createVitest, type Vitest } from 'vitest/node';

process.env.NODE_ENV ??= 'test';
const vitest = await createVitest('test', { run: true, watch: false });
// its own would end this process at once; the set-up, which has started the servers, has others
process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
await vitest.start(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
const line = summary(vitest);
await vitest.close();
console.log(line);
process.exit();

/** The one line that other programs read. */
function summary({ state }: Vitest): string {
  const tests = state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  const count = (wanted: string) => tests.filter((test) => test.result().state === wanted).length;
  return `${count('passed')} passed, ${count('failed')} failed`;
}
