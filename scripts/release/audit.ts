/** Known vulnerabilities that are high or critical. */
import { spawnSync } from 'node:child_process';

interface Report {
  metadata?: { vulnerabilities?: Record<string, number> };
  vulnerabilities?: Record<string, { severity: string }>;
}

/** One line each; undefined where the registry answers no audit. */
export function audit(checkout: string): string[] | undefined {
  const args = ['audit', '--json', '--audit-level=high'];
  const { stdout } = spawnSync('npm', args, { cwd: checkout, encoding: 'utf8', timeout: 60_000 });
  const report = parse(stdout);
  if (!report.metadata?.vulnerabilities) return undefined;
  return Object.entries(report.vulnerabilities ?? {})
    .filter(([, { severity }]) => severity === 'high' || severity === 'critical')
    .map(([name, { severity }]) => `${severity}: ${name}`);
}

function parse(text: string): Report {
  try {
    return JSON.parse(text);
  } catch {
    // a page of a proxy, or nothing
    return {};
  }
}
