/**
 * `npm test [-- PATH…] [-t PATTERN]`: runs what a change must pass, or all tests whose path contains one of the words.
 * `--all`: also the rehearsals of a release; `--with PATH`: those whose path contains it. `--again`: a file that failed runs
 * once more, alone, and is reported as a defect. The tests' set-up starts the servers and stops them at the end, also on
 * Ctrl-C.
 */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createVitest, type TestModule } from 'vitest/node';

/** At most so many files run once more: with more failures the change is at fault. */
const mostAgain = 5;

/** What a change must pass: everything except the rehearsals of a release. */
const everyChange = readdirSync(new URL('../test/', import.meta.url))
  .filter((folder) => folder !== 'rehearsals')
  .map((folder) => `test/${folder}/`);

interface Result {
  passed: number;
  failed: number;
  /** files */
  broken: { path: string; passed: number; failed: number }[];
}

process.env.NODE_ENV ??= 'test';
const { paths, names, again } = readArguments();

let { passed, failed, broken } = await run(paths);
const defects: string[] = [];
if (again && broken.length > 0 && broken.length <= mostAgain) {
  for (const first of broken) {
    const second = await run([first.path]);
    passed += second.passed - first.passed;
    failed += second.failed - first.failed;
    defects.push(
      `a defect to mend: ${first.path} failed, and ${second.broken.length > 0 ? 'failed again' : 'passed'} alone`,
    );
  }
}
for (const line of [...defects, `${passed} passed, ${failed} failed`]) console.log(line);
process.exit(failed > 0 ? 1 : 0);

async function run(filters: string[]): Promise<Result> {
  const vitest = await createVitest('test', { run: true, watch: false, ...(names && { testNamePattern: names }) });
  // vitest's handlers would end this process at once; the set-up has its own
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
  let failure = 0;
  await vitest.start(filters).catch((error) => {
    console.error(error.message);
    failure = 1;
  });
  const modules = vitest.state.getTestModules();
  const errors = vitest.state.getUnhandledErrors().length;
  await vitest.close();
  const counts = modules.map(countOf);
  const sum = (of: 'passed' | 'failed') => counts.reduce((total, count) => total + count[of], 0);
  return {
    passed: sum('passed'),
    failed: sum('failed') + errors + failure,
    broken: counts.filter((count) => count.failed > 0),
  };
}

/** A file that could not be loaded or whose hooks failed counts as a failed test. */
function countOf(module: TestModule): Result['broken'][number] {
  const states = [...module.children.allTests()].map((test) => test.result().state);
  const count = (wanted: string) => states.filter((state) => state === wanted).length;
  const failed = count('failed');
  return {
    path: module.relativeModuleId,
    passed: count('passed'),
    failed: failed === 0 && module.state() === 'failed' ? 1 : failed,
  };
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      testNamePattern: { type: 'string', short: 't' },
      all: { type: 'boolean', default: false },
      with: { type: 'string', multiple: true },
      again: { type: 'boolean', default: false },
    },
  });
  const { all, again, testNamePattern: names, with: rehearsals = [] } = values;
  const usual = [...everyChange, ...(all ? ['test/rehearsals/'] : rehearsals)];
  return { paths: positionals.length > 0 ? positionals : usual, names, again };
}
