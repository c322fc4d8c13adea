/**
 * Sends a number of records with ids of the client's own as fast as it can, in a process of its own; its one argument
 * is the load, its output which were acknowledged.
 */
import { makeIdAt } from '#libs/contract/uuid';
import { makeTemplates, type Site, visitorNumber } from './bodies.ts';
import { openConnection } from './connection.ts';

export interface Flood {
  baseUrl: string;
  sites: Site[];
  records: number;
  connections: number;
}

export interface FloodResult {
  seconds: number;
  /** ids of what got a 202 */
  acknowledged: string[];
  /** other answers, and none */
  failed: number;
}

const { baseUrl, sites, records, connections } = JSON.parse(process.argv[2] ?? '{}') as Flood;

const templates = makeTemplates(sites, new URL(baseUrl).host, { ids: true });
const acknowledged: string[] = [];
let next = 0;
let failed = 0;

async function sendOn(): Promise<void> {
  let connection = await openConnection(baseUrl);
  while (next < records) {
    const index = next++;
    const [before = '', between = '', after = ''] = templates[index % templates.length] ?? [];
    const id = makeIdAt(Date.now());
    try {
      const { status } = await connection.send(before + id + between + visitorNumber(index) + after);
      if (status === 202) acknowledged.push(id);
      else failed += 1;
    } catch {
      failed += 1;
      connection = await openConnection(baseUrl);
    }
  }
  connection.close();
}

const started = performance.now();
await Promise.all(Array.from({ length: connections }, sendOn));
const result: FloodResult = { seconds: (performance.now() - started) / 1_000, acknowledged, failed };
process.stdout.write(JSON.stringify(result), () => process.exit());
