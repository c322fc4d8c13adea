/** A file of rows that are refused waits for nothing, and the process that reads it also records. */
import { describe, expect, it } from 'vitest';
import { readCsv } from '#libs/imports/csv';
import { importRows, noRows } from '#libs/imports/import-rows';
import { readNdjson } from '#libs/imports/ndjson';

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
    const counts = noRows();
    let turns = 0;
    const others = setInterval(() => {
      turns += 1;
    }, 1);
    const began = performance.now();
    try {
      await importRows(
        {
          rows: read(atOnce(text)),
          toRecord: ({ refusal }) => ({ refusal: refusal ?? { code: 'invalid_request', detail: '' } }),
          findKnown: async () => new Set(),
        },
        counts,
      );
    } finally {
      clearInterval(others);
    }
    expect(counts.rejected).toBeGreaterThanOrEqual(count / 10);
    // one every 5 ms, and a busy machine has fewer
    expect(turns).toBeGreaterThanOrEqual(Math.floor((performance.now() - began) / 50));
    expect(turns).toBeGreaterThan(0);
  });
});
