/** `npm run build`: writes what Node runs and what browsers load to `dist`. */
import { build } from './stack/build.ts';

const start = performance.now();
await build('dist');
console.log(`built dist in ${((performance.now() - start) / 1000).toFixed(1)} s`);
