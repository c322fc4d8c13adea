/** Fails on a known vulnerability that is high or critical. A registry that answers no audit fails nothing. */
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--json', '--audit-level=high'], { encoding: 'utf8', timeout: 60_000 });

const report = parse(stdout);
const counts = report?.metadata?.vulnerabilities;
if (!counts) {
  console.log('audit: the registry gave no answer');
} else {
  const { high = 0, critical = 0 } = counts;
  console.log(`audit: ${high} high, ${critical} critical`);
  if (high + critical > 0) {
    for (const [name, { severity }] of Object.entries(report.vulnerabilities ?? {}))
      console.log(`  ${severity}: ${name}`);
    process.exitCode = 1;
  }
}

interface Report {
  metadata?: { vulnerabilities?: Record<string, number> };
  vulnerabilities?: Record<string, { severity: string }>;
}

function parse(text: string): Report | undefined {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return undefined;
  }
}
