/** Exports that are killed half-way, and go on on the command line. */
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { ExportFormat } from '#libs/contract/terms';
import { persist } from '#libs/store/records/persist';
import { type Cli, createCli } from '../support/cli.ts';
import { tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { startApiProcess, startProcess } from '../support/service.ts';
import { at, type OwnStackOfProcesses, startProcesses } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const records = 20_000;
/** Bytes after which it is killed. */
const some = 300_000;

describe('an export', () => {
  let stack: OwnStackOfProcesses;
  let cli: Cli;
  let folder: string;

  beforeAll(async () => {
    stack = await startProcesses({ worker: false, tenant: { domains: 2 } });
    cli = createCli(stack.env);
    folder = mkdtempSync(path.join(inject('folder'), 'killed-'));
    for (let from = 0; from < records; from += 1_000) {
      const batch = Array.from({ length: 1_000 }, (_, each) =>
        recordAt(Date.now() - (records - from - each) * 50, {
          domainId: at(stack.tenant.domainIds, each % 2),
          visitorId: `visitor "${each}",\r\n2`,
          pageUrl: `https://shop.example/${'x'.repeat(600)}`,
        }),
      );
      await persist(stack.db, batch, { owe: true });
    }
  });

  const file = (name: string) => path.join(folder, name);
  const ofWhat = () => ({
    domain: { args: ['--domain', stack.domainId], target: `/v1/consent/${stack.domainId}/export` },
    organization: { args: ['--org', stack.tenant.organizationId], target: '/v1/organization/export' },
  });

  it.each<['domain' | 'organization', ExportFormat]>([
    ['organization', 'ndjson'],
    ['domain', 'csv'],
  ])('of the %s as %s whose API is killed goes on in the file that it left', async (what, format) => {
    const { args, target } = ofWhat()[what];
    const api = await startApiProcess(stack.env);
    const [whole, cut] = [file(`whole.${format}`), file(`cut.${format}`)];
    await cli.json('records', 'export', ...args, '--format', format, '--out', whole);
    const [response]: IncomingMessage[] = await once(
      get(`${api.baseUrl}${target}?format=${format}`, {
        headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId)}` },
      }),
      'response',
    );
    if (!response) throw new Error('no response');
    let bytes = 0;
    const reading = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
        // the API waits for its reader, so most of it is not yet sent
        if (bytes >= some && api.process.running()) {
          api.process.kill();
          await api.process.exited;
        }
      }
    };
    await expect(pipeline(response, reading, createWriteStream(cut))).rejects.toThrow('aborted');
    const left = statSync(cut).size;
    expect(left).toBeGreaterThanOrEqual(some / 2);
    expect(left).toBeLessThan(statSync(whole).size);
    await cli.json('records', 'export', ...args, '--format', format, '--out', cut, '--continue');
    expect(readFileSync(cut, 'utf8') === readFileSync(whole, 'utf8')).toBe(true);
    const again = await cli.json('records', 'export', ...args, '--format', format, '--out', cut, '--continue');
    expect(again).toEqual({ records: 0, last: null });
    expect(readFileSync(cut, 'utf8') === readFileSync(whole, 'utf8')).toBe(true);
  });

  it('of a command line that is killed goes on by the same command', async () => {
    const [whole, cut] = [file('whole-cli.ndjson'), file('cut-cli.ndjson')];
    const { args } = ofWhat().organization;
    await cli.json('records', 'export', ...args, '--out', whole);
    const same = ['records', 'export', ...args, '--out', cut, '--continue'];
    const { process: killed } = startProcess('cli', stack.env, same);
    await eventually(() => expect(existsSync(cut) && statSync(cut).size).toBeGreaterThan(some), { every: 2 });
    killed.kill();
    await killed.exited;
    expect(statSync(cut).size).toBeLessThan(statSync(whole).size);
    await cli.json(...same);
    expect(readFileSync(cut, 'utf8') === readFileSync(whole, 'utf8')).toBe(true);
  });
});
