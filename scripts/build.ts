import { explain } from './stack/advice.ts';
import { build } from './stack/build.ts';

const start = performance.now();
try {
  await build('dist');
  console.log(`built dist in ${((performance.now() - start) / 1000).toFixed(1)} s`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
