/** What an operator needs to know first, on one screen: HTML without scripts. */
import { createHash } from 'node:crypto';
import { escapeHtml } from '../http/html.ts';
import type { Fault, Readiness, Shard } from './readiness.ts';

const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 24px 16px; background: light-dark(#f5f6f8, #0e1116);
  color: light-dark(#131820, #eceff4); overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.73rem; }
h2 { margin: 24px 0 8px; font-size: 1.13rem; }
.state { margin: 8px 0; padding: 12px 16px; border: 1px solid currentcolor; border-radius: 12px; font-weight: 600; }
.good { color: light-dark(#137a4b, #4cc38a); }
.warn { color: light-dark(#8a4b00, #f5b95f); }
.bad { color: light-dark(#ab2330, #ff8f97); }
div { overflow-x: auto; overflow-wrap: normal; }
table { width: 100%; border-collapse: collapse; background: light-dark(#fff, #171b22); }
caption { text-align: left; color: light-dark(#566071, #a3adbc); }
th, td { padding: 6px 8px; border: 1px solid light-dark(#e2e6ec, #2a313c); text-align: left; vertical-align: top; }
a { color: light-dark(#1f4ac0, #8fb0ff); }
`;

export const statusPagePolicy =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const row = (head: string, cells: (string | number)[]): string =>
  `<tr><th scope="row">${escapeHtml(head)}</th>${cells.map((cell) => `<td>${escapeHtml(String(cell))}</td>`).join('')}</tr>`;

const table = (caption: string, heads: string[], rows: string[]): string =>
  `<div role="group" tabindex="0" aria-label="${escapeHtml(caption)}"><table><caption>${escapeHtml(caption)}</caption><thead><tr>` +
  `${heads.map((head) => `<th scope="col">${escapeHtml(head)}</th>`).join('')}</tr></thead>` +
  `<tbody>${rows.join('')}</tbody></table></div>`;

function forHowLong(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const timeOf = (time: number): string => new Date(time).toISOString().replace('T', ' ').slice(0, 19);

const partRow = (name: string, state: boolean | string | number, faults: Fault[], now: number): string => {
  const fault = faults.find(({ part }) => part === name);
  if (fault) {
    const since = `${timeOf(fault.since)} UTC, for ${forHowLong(now - fault.since)}`;
    return row(name, [`degraded: ${fault.reason}`, since, fault.costs]);
  }
  return row(name, [state === true ? 'works' : String(state), '', '']);
};

interface Status {
  /** of the process: `API` or `worker` */
  name: string;
  readiness: Readiness;
  /** null: Redis does not respond */
  shards: Shard[] | null;
  links: string[];
  now?: number;
}

function stateOf(ready: boolean, isDegraded: boolean, failed: number): [string, string] {
  if (!ready) return ['bad', 'Not ready: see the parts below'];
  if (isDegraded) return ['warn', 'Ready, but degraded'];
  return failed > 0 ? ['warn', 'Ready, but jobs have failed'] : ['good', 'Ready: all parts work'];
}

export function statusPage({ name, readiness, shards, links, now = Date.now() }: Status): string {
  const { ready, degraded, warnings } = readiness;
  const parts = { ...readiness.parts, queue: shards ? true : 'unknown' };
  const failed = (shards ?? []).reduce((sum, { jobs }) => sum + (jobs.failed ?? 0), 0);
  const [kind, state] = stateOf(ready, degraded.length > 0, failed);
  const noted =
    failed === 0 ? warnings : [`Jobs that failed for good: ${failed}. \`queue status\` says why.`, ...warnings];
  const queues = (shards ?? []).map(({ shard, jobs, oldest }) =>
    row(`Shard ${shard}`, [...Object.values(jobs), forHowLong(oldest * 1000)]),
  );
  const states = Object.keys(shards?.[0]?.jobs ?? {});
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(state)} · Assent ${name}</title><style>${style}</style></head>
<body><main>
<h1>Assent ${name}</h1>
<p class="state ${kind}">${state}</p>
<p>As of ${timeOf(now)} UTC. <a href="/">Refresh</a></p>
<h2>Parts</h2>
${table(
  'The state of each part, and the effect if it is degraded',
  ['Part', 'State', 'Since', 'Effect'],
  Object.entries(parts).map(([part, is]) => partRow(part, is, degraded, now)),
)}
${noted.length > 0 ? `<h2>Warnings</h2><ul>${noted.map((each) => `<li>${escapeHtml(each)}</li>`).join('')}</ul>` : ''}
<h2>Queues</h2>
${shards ? table('Jobs by state; a job can have many records', ['Queue', ...states, 'oldest job'], queues) : '<p>Unknown: Redis does not respond.</p>'}
<p>Also on this port: ${links.map((link) => `<a href="${link}">${link}</a>`).join(' · ')}</p>
</main></body>
</html>
`;
}
