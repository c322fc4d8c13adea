/** How many 202s one API process gives a second, beside Koa alone on the same bodies. The worker is off. */
import { createAdministration } from '#libs/store/administration';
import { createDatabase } from '#libs/store/sql';
import { runLoad } from './load.ts';
import { median } from './median.ts';
import type { BenchStack } from './stack.ts';

export interface Result {
  name: string;
  unit: string;
  figure: number;
  reference: number;
  ratio: number;
  target: number;
  met: boolean;
}

const rounds = 3;
const connections = 128;
const target = 0.7;

export async function accept(stack: BenchStack, seconds: number): Promise<Result> {
  const { domainId, apiKey } = await makeDomain(stack.databaseUrl);
  const [bare, api] = [await stack.startBare(), await stack.startApi()];
  const measure = async (baseUrl: string, duration: number) => {
    const url = `${baseUrl}/v1/consent/${domainId}/record`;
    const load = { url, headers: { 'x-api-key': apiKey }, connections, seconds: duration };
    const { requestsPerSecond, failed } = await runLoad(load);
    if (failed > 0) throw new Error(`${failed} requests to ${baseUrl} failed`);
    return requestsPerSecond;
  };
  for (const each of [bare, api]) await measure(each, Math.min(3, seconds));
  const references: number[] = [];
  const figures: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    references.push(await measure(bare, seconds));
    figures.push(await measure(api, seconds));
  }
  const ratio = median(figures.map((figure, round) => figure / (references[round] ?? Number.NaN)));
  return {
    name: 'accept',
    unit: 'records/s',
    figure: median(figures),
    reference: median(references),
    ratio,
    target,
    met: ratio >= target,
  };
}

async function makeDomain(url: string): Promise<{ domainId: string; apiKey: string }> {
  const db = createDatabase({ url, max: 1, statementTimeout: 5_000, deadline: 6_000, prepare: true, name: 'bench' });
  try {
    const admin = createAdministration(db, 'bench');
    await admin.setPlan('bench', {});
    const { organizationId } = await admin.createOrganization('Bench', 'bench');
    const { domainId } = await admin.createDomain(organizationId, { name: 'bench.example', origins: [] });
    return await admin.createKey(domainId);
  } finally {
    await db.close();
  }
}
