/** Fails on a known vulnerability that is high or critical. A registry that answers no audit fails nothing. */
import { audit } from './release/audit.ts';
import { root } from './stack/paths.ts';

const found = audit(root);
if (!found) console.log('audit: the registry gave no answer');
else {
  console.log(`audit: ${found.length} high or critical`);
  for (const line of found) console.log(`  ${line}`);
  if (found.length > 0) process.exitCode = 1;
}
