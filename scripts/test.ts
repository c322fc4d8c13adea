/**
 * `npm test`: every test, or those whose path contains one of the arguments, and with `-t PATTERN` whose name matches. The
 * servers that the tests need are started by the tests' own set-up and end with it, also on Ctrl-C.
 */
import { parseArgs } from 'node:util';
import { createVitest, type Vitest } from 'vitest/node';

process.env.NODE_ENV ??= 'test';
const { paths, names } = readArguments(process.argv.slice(2));
const vitest = await createVitest('test', { run: true, watch: false, ...(names && { testNamePattern: names }) });
// its own would end this process at once; the set-up, which has started the servers, has others
process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
await vitest.start(paths).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
const lines = [...listRetried(vitest), summary(vitest)];
await vitest.close();
for (const line of lines) console.log(line);
process.exit();

/** Ends the process with one line where it does not understand them: what is ignored would run every test. */
function readArguments(args: string[]) {
  try {
    const options = { testNamePattern: { type: 'string', short: 't' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { paths: positionals, names: values.testNamePattern };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

function testsOf({ state }: Vitest) {
  return state.getTestModules().flatMap((module) => [...module.children.allTests()]);
}

/** What passed only at the second attempt, which CI gives, why the first did not, and where: it should be mended. */
function listRetried(vitest: Vitest): string[] {
  return testsOf(vitest)
    .filter((test) => test.result().state === 'passed' && test.diagnostic()?.flaky)
    .map((test) => {
      const [error] = test.result().errors ?? [];
      const lines = error?.stacks?.map(({ line }) => line).join(', ');
      const why = `${error?.message} (lines ${lines})`;
      return `passed at the second attempt: ${test.module.relativeModuleId} > ${test.fullName}: ${why}`;
    });
}

/** The one line that other programs read. */
function summary(vitest: Vitest): string {
  const tests = testsOf(vitest);
  const count = (wanted: string) => tests.filter((test) => test.result().state === wanted).length;
  return `${count('passed')} passed, ${count('failed')} failed`;
}
