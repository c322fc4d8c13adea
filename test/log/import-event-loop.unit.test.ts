/** A file of rows that are refused waits for nothing, and the process that reads it also records. */
import { describe, expect, it } from 'vitest';
import { readCsv } from '#libs/log/import/csv';
import { emptyCounts, type ImportParts, importRows } from '#libs/log/import/import-rows';
import { readNdjson } from '#libs/log/import/ndjson';

const count = 20_000;

async function* atOnce(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

describe('an import of rows that are refused', () => {
  it.each([
    ['of NDJSON', readNdjson, 'x\n'.repeat(count)],
    ['of another width', readCsv, `decision,b\n${'x\n'.repeat(count)}`],
    ['with broken quotes', readCsv, `decision,b\n${'x"\n'.repeat(count / 10)}`],
  ])('leaves others their turn: %s', async (_, read, text) => {
    const counts = emptyCounts();
    let turns = 0;
    const others = setInterval(() => {
      turns += 1;
    }, 1);
    const began = process.cpuUsage();
    const parts: ImportParts = {
      rows: read(atOnce(text)),
      toRecord: ({ refusal }) => ({ refusal: refusal ?? { code: 'invalid_request', detail: '' } }),
      findKnown: async () => new Set(),
      held: { count: 0 },
    };
    await importRows(parts, counts).finally(() => clearInterval(others));
    expect(counts.rejected).toBeGreaterThanOrEqual(count / 10);
    const { user, system } = process.cpuUsage(began);
    // one for every 50 ms of work at least: it yields ten times as often
    expect(turns).toBeGreaterThanOrEqual(Math.max(1, Math.floor((user + system) / 50_000)));
  });
});
