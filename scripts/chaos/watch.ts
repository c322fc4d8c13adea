/** A Prometheus that scrapes a drill's processes every few seconds, with the rules of docs/monitoring at that pace. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { root } from '../stack/paths.ts';
import { startPrometheus } from '../stack/prometheus.ts';
import { writeFor } from '../stack/service-user.ts';
import type { Scene } from './scene.ts';

/** A process that waits for a store may take its time to answer. */
const pace = '3s';
const firesAfter = '5s';
/** of which rates are taken */
const rates = '[15s]';
/** milliseconds between two looks at which processes run */
const every = 250;

const rules = z.object({
  groups: z.array(z.looseObject({ rules: z.array(z.looseObject({ expr: z.string(), for: z.string().optional() })) })),
});
const listed = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.object({ alertname: z.string() }) })) }),
});
const scraped = z.object({ data: z.object({ activeTargets: z.array(z.object({ health: z.string() })) }) });

/** Minutes and hours of the rules become seconds; `ages`: the shipped thresholds in seconds, and those in use here. */
function soonerRules(ages: Record<string, number>) {
  const file = rules.parse(parse(readFileSync(path.join(root, 'docs/monitoring/alerts.yml'), 'utf8')));
  for (const rule of file.groups.flatMap((group) => group.rules)) {
    rule.for = firesAfter;
    rule.expr = rule.expr
      .replaceAll(/\[\d+[mh]\]/g, rates)
      .replace(/> (\d{2,})$/, (whole, age: string) => (ages[age] === undefined ? whole : `> ${ages[age]}`));
  }
  return file;
}

export async function watch(scene: Scene, ages: Record<string, number>) {
  const dataDir = path.join(scene.folder, 'prometheus');
  mkdirSync(dataDir);
  const write = (name: string, content: object) =>
    writeFor(undefined, path.join(dataDir, name), JSON.stringify(content));
  const apps = ['api', 'worker'] as const;
  const writeTargets = () => {
    for (const app of apps) {
      const running = scene.processes.filter((each) => each.app === app && each.process.running());
      write(`${app}.json`, [{ targets: running.map(({ opsUrl }) => new URL(opsUrl).host) }]);
    }
  };
  writeTargets();
  write('alerts.yml', soonerRules(ages));
  write('prometheus.yml', {
    global: { scrape_interval: pace, scrape_timeout: pace, evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: apps.map((app) => ({
      job_name: `assent-${app}`,
      file_sd_configs: [{ files: [`${app}.json`], refresh_interval: '1s' }],
    })),
  });
  const { url, stop } = await startPrometheus(dataDir, 'prometheus.yml');
  scene.onStop(stop);
  const timer = setInterval(writeTargets, every);
  scene.onStop(() => clearInterval(timer));

  const get = async (what: string) => (await fetch(`${url}/api/v1/${what}`)).json();
  const isUp = async () => {
    const { activeTargets } = scraped.parse(await get('targets')).data;
    return activeTargets.length === scene.processes.length && activeTargets.every(({ health }) => health === 'up');
  };
  await scene.until(isUp, 'Prometheus reaches every process');
  /** Those that fire, and those that will if what they are about does not end. */
  return async () => {
    const { alerts } = listed.parse(await get('alerts')).data;
    const namesOf = (some: typeof alerts) => some.map(({ labels }) => labels.alertname.replace(/^Assent/, ''));
    return { active: namesOf(alerts), firing: namesOf(alerts.filter(({ state }) => state === 'firing')) };
  };
}
