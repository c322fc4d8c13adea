/** A Prometheus that scrapes a drill's processes every few seconds, with the rules of docs/monitoring at that pace. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { root } from '../stack/paths.ts';
import { startPrometheus } from '../stack/prometheus.ts';
import type { Scene } from './drill.ts';

const shipped = path.join(root, 'docs/monitoring');
const jobs = { api: 'assent-api', worker: 'assent-worker' } as const;
/** A process that waits for a store may take its time to answer. */
const pace = '3s';
const firesAfter = '5s';
/** of which rates are taken */
export const rateSeconds = 15;
/** milliseconds between two looks at which processes run */
const every = 250;

const rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(z.looseObject({ alert: z.string(), expr: z.string(), for: z.string().optional() })),
    }),
  ),
});
const vector = z.object({
  data: z.object({
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});
const pending = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.object({ alertname: z.string() }) })) }),
});

/** Minutes and hours of the rules become seconds; `ages`: the shipped thresholds in seconds, and those in use here. */
function soonerRules(ages: Record<string, number>) {
  const file = rules.parse(parse(readFileSync(path.join(shipped, 'alerts.yml'), 'utf8')));
  for (const rule of file.groups.flatMap((group) => group.rules)) {
    rule.for = firesAfter;
    rule.expr = rule.expr
      .replaceAll(/\[\d+[mh]\]/g, `[${rateSeconds}s]`)
      .replace(/> (\d{2,})$/, (whole, age: string) => (ages[age] === undefined ? whole : `> ${ages[age]}`));
  }
  return file;
}

const nameOf = ({ labels }: { labels: { alertname: string } }): string => labels.alertname.replace(/^Assent/, '');

export type Watch = Awaited<ReturnType<typeof watch>>;

export async function watch(scene: Scene, ages: Record<string, number> = {}) {
  const dataDir = path.join(scene.folder, 'prometheus');
  mkdirSync(dataDir);
  const writeTargets = () => {
    for (const [app, job] of Object.entries(jobs)) {
      const running = scene.processes.filter((each) => each.app === app && each.process.running());
      const targets = running.map(({ opsUrl }) => new URL(opsUrl).host);
      writeFileSync(path.join(dataDir, 'next.json'), JSON.stringify([{ targets }]));
      renameSync(path.join(dataDir, 'next.json'), path.join(dataDir, `${job}.json`));
    }
  };
  const config = {
    global: { scrape_interval: pace, scrape_timeout: pace, evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: Object.values(jobs).map((job) => ({
      job_name: job,
      file_sd_configs: [{ files: [`${job}.json`], refresh_interval: '1s' }],
    })),
  };
  writeTargets();
  writeFileSync(path.join(dataDir, 'prometheus.yml'), stringify(config));
  writeFileSync(path.join(dataDir, 'alerts.yml'), stringify(soonerRules(ages)));
  const { url, stop } = await startPrometheus(dataDir, 'prometheus.yml');
  scene.onStop(stop);
  const timer = setInterval(writeTargets, every);
  scene.onStop(() => clearInterval(timer));

  const listAlerts = async () => pending.parse(await get('alerts')).data.alerts;
  const get = async (path: string) => (await fetch(`${url}/api/v1/${path}`)).json();
  return {
    /** What a panel of the dashboard shows now, by the one label that its lines differ in; '' where there is none. */
    ask: async (query: string): Promise<Record<string, number>> => {
      const { data } = vector.parse(await get(`query?${new URLSearchParams({ query })}`));
      return Object.fromEntries(
        data.result.map(({ metric, value }) => [Object.values(metric).join(), Number(value[1])]),
      );
    },
    firing: async (): Promise<string[]> => (await listAlerts()).filter(({ state }) => state === 'firing').map(nameOf),
    /** Those too that will fire if what they are about does not end. */
    active: async (): Promise<string[]> => (await listAlerts()).map(nameOf),
  };
}
