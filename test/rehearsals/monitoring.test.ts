/** What docs/monitoring gives to operators, in a real Prometheus. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { makeIdAt } from '#libs/base/terms/calendar';
import { root } from '../../scripts/stack/paths.ts';
import { findPromtool, startPrometheus } from '../../scripts/stack/prometheus.ts';
import { outputOf } from '../../scripts/stack/tether.ts';
import { atEnd } from '../support/at-end.ts';
import { sectionOf } from '../support/documents.ts';
import { startApiProcess, startWorkerProcess } from '../support/service.ts';
import { sealSettings, startProcesses } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  annotations: { summary: string; action: string; runbook_url: string };
}
interface Case {
  name: string;
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
}
interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const folder = path.join(root, 'docs/monitoring');
const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
const rules = (parse(read('alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const cases = (parse(read('alerts.test.yml')) as { tests: Case[] }).tests;
const panels = (JSON.parse(read('grafana.json')) as { panels: Panel[] }).panels.filter(({ targets }) => targets);
const alerts = rules.map(({ alert }) => alert);

describe('the alert rules', () => {
  const promtool = async (...args: string[]) => {
    const { binary, env } = await findPromtool();
    return outputOf(binary, args, { cwd: folder, env });
  };

  it('are valid, each fires where it should, and all are silent while nothing is wrong', async () => {
    expect(await promtool('check', 'rules', 'alerts.yml')).toContain(`${rules.length} rules found`);
    expect(await promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    expect(await promtool('check', 'config', 'prometheus.compose.yml')).toContain('is valid prometheus config');
    const [healthy, ...drills] = cases.map(({ name, alert_rule_test: expected }) => ({
      name,
      silent: expected.filter(({ exp_alerts }) => exp_alerts.length === 0).map(({ alertname }) => alertname),
      firing: expected.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
    }));
    expect(healthy).toEqual({ name: 'nothing is wrong', silent: alerts, firing: [] });
    expect(drills).toEqual(alerts.map((name) => ({ name, silent: [], firing: [name] })));
  }, 300_000);

  it('are the table of docs/operations.md', () => {
    const rows = sectionOf('docs/operations.md', '### Alerts').match(/^\| <a.*\|$/gm) ?? [];
    // links lead nowhere in a mail; there the address of the row does
    expect(rows.map((row) => row.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'))).toEqual(
      rules.map(({ alert, annotations: { summary, action, runbook_url: address } }) => {
        const id = alert.toLowerCase();
        expect(address).toBe(`https://docs.example.com/assent/operations.md#${id}`);
        return `| <a id="${id}"></a>\`${alert}\` | ${summary} | ${action} |`;
      }),
    );
  });

  it('are those that the example for Alertmanager names, whose address Prometheus has', () => {
    const named = read('alertmanager.yml').match(/\bAssent\w+/g) ?? [];
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !alerts.includes(name))).toEqual([]);
    expect(parse(read('prometheus.yml'))).toHaveProperty('alerting.alertmanagers.0.static_configs.0.targets.0');
  });
});

const stack = await startProcesses({ worker: false });
const worker = await startWorkerProcess({ ...stack.env, ...sealSettings });
// not a replica, but one is configured
const other = await startApiProcess({
  ...stack.env,
  DATABASE_READ_URL: `${stack.env.DATABASE_URL}&sslmode=disable`,
});
const apis = [stack.api, other];
const dataDir = mkdtempSync(path.join(inject('folder'), 'prometheus-'));
// as they are shipped, but sooner
const config = parse(read('prometheus.yml')) as {
  global: object;
  alerting: object;
  scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
};
config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
config.alerting = {};
for (const { job_name: job, static_configs: targets } of config.scrape_configs) {
  const processes = job === 'assent-api' ? apis : [worker];
  targets[0] = { targets: processes.map(({ opsUrl }) => new URL(opsUrl).host) };
}
writeFileSync(path.join(dataDir, 'prometheus.yml'), JSON.stringify(config));
writeFileSync(path.join(dataDir, 'alerts.yml'), read('alerts.yml').replaceAll(/^( +for:) \d+m$/gm, '$1 1s'));
const prometheus = await startPrometheus(dataDir, 'prometheus.yml');
atEnd(() => {
  prometheus.kill();
  return prometheus.exited;
});
const url = prometheus.url;

describe('a Prometheus that scrapes a stack', () => {
  const ask = async (query: string): Promise<{ value: [number, string] }[]> => {
    const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`);
    const answer = (await response.json()) as {
      status: string;
      error?: string;
      data?: { result: { value: [number, string] }[] };
    };
    if (!answer.data) throw new Error(`${query}: ${answer.error}`);
    return answer.data.result;
  };
  const firing = async (): Promise<string[]> => {
    const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      data: { alerts: { state: string; labels: { alertname: string } }[] };
    };
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
  };
  /** What every second brings: records, some twice, some with a wrong key, and who reads. */
  const useService = async () => {
    const { client, domainId, apiKey } = stack;
    const id = makeIdAt(Date.now());
    for (const decision of ['custom', 'accept_all']) await client.record(domainId, apiKey, { decision, id });
    for (let count = 0; count < 8; count += 1) await client.record(domainId, apiKey, { decision: 'accept_all' });
    await client.record(domainId, 'ak_wrong', { decision: 'custom' });
    await fetch(`${stack.api.baseUrl}/v1/consent/${domainId}/displays`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
    });
    await client.stats(domainId, 'from=2026-01-01&to=2026-12-31');
  };

  it('gets data for every panel of the dashboard, and no alert but that the replica is none', async () => {
    const exprs = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    expect(exprs.length).toBeGreaterThan(25);
    await eventually(
      async () => {
        await useService();
        const responses = await Promise.all(
          exprs.map(async ({ title, expr }) => {
            const result = await ask(expr.replaceAll('$__rate_interval', '10s'));
            return result.some(({ value: [, value] }) => Number.isFinite(Number(value))) ? [] : [`${title}: ${expr}`];
          }),
        );
        expect(responses.flat()).toEqual([]);
      },
      { every: 500 },
    );
    // a machine that also runs other tests may be slow
    const isSlow = (alert: string) => ['AssentRecordingSlow', 'AssentEventLoopLag'].includes(alert);
    const fired = async () => (await firing()).filter((alert) => !isSlow(alert));
    await eventually(async () => expect(await fired()).toEqual(['AssentReplicaUnused']));
  });

  it('has every metric and every label that rules and dashboard name', async () => {
    const all = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ];
    const selectors = all.flatMap(
      (expr) => expr.match(/\b(?:assent|nodejs|process)_\w+(?:\{[^}]*\})?|\bup\{[^}]*\}/g) ?? [],
    );
    // what is compared with a pattern need not be there now, but its label must
    const wanted = new Set(selectors.map((selector) => selector.replaceAll(/=~"[^"]*"/g, '!=""')));
    const grouped = all.flatMap((expr) => {
      const [, labels] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
      const [metric] = /\b(?:assent|nodejs)_\w+/.exec(expr) ?? [];
      return labels && metric ? labels.split(', ').map((label) => `${metric}{${label}!=""}`) : [];
    });
    const queries = [...new Set([...wanted, ...grouped])];
    expect(queries.length).toBeGreaterThan(40);
    await eventually(async () => {
      const found = await Promise.all(queries.map(async (query) => ((await ask(query)).length > 0 ? [] : [query])));
      expect(found.flat()).toEqual([]);
    });
  });

  it('tells within seconds that Redis is gone, and then that nothing takes records', async () => {
    stack.redis.kill();
    await stack.redis.exited;
    await eventually(async () => expect(await firing()).toContain('AssentRedisUnusable'));
    // a scrape of a busy machine may fail, but not for long
    await eventually(async () => expect(await firing()).not.toContain('AssentApiDown'));
    for (const api of apis) api.process.kill();
    await eventually(async () => expect(await firing()).toContain('AssentApiDown'));
  });
});
