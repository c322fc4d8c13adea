/** Fails on a known vulnerability of level high or critical. If the registry offers no audit, nothing fails. */
import { spawnSync } from 'node:child_process';
import { root } from './stack/paths.ts';

interface Report {
  metadata?: { vulnerabilities?: object };
  vulnerabilities?: Record<string, { severity: string }>;
}

const { stdout } = spawnSync('npm', ['audit', '--json'], { cwd: root, encoding: 'utf8', timeout: 60_000 });
const { metadata, vulnerabilities = {} } = parse(stdout);
const found = Object.entries(vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity));
if (!metadata?.vulnerabilities) console.log('audit: the registry gave no answer');
else console.log(`audit: ${found.length} high or critical`);
for (const [name, { severity }] of found) console.log(`  ${severity}: ${name}`);
if (found.length > 0) process.exitCode = 1;

function parse(text: string): Report {
  try {
    return JSON.parse(text);
  } catch {
    // an error page of a proxy, or an empty body
    return {};
  }
}
