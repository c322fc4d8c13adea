/** Sealing beside a measurement: it is on in production, and what is sealed costs more to read. */
import { randomBytes } from 'node:crypto';
import { waitUntil } from '../stack/wait.ts';
import type { Stack } from './stack.ts';

/** A worker's, to seal each second. */
export const makeSealSettings = () => ({
  LOG_NAME: 'bench',
  LOG_KEY: randomBytes(32).toString('hex'),
  SEAL_SECONDS: '1',
});

/** Until the domain's newest log holds as many entries as the domain has records. */
export async function untilSealed({ db }: Stack, domainId: string): Promise<void> {
  const isSealed = async () => {
    const [row] = await db.run(
      (sql) => sql<{ isSealed: boolean }[]>`
        with domain as (select number from domains where id = ${domainId})
        select coalesce(
          (select checkpoint_size from logs where domain_number = (select number from domain) order by log desc limit 1), 0
        ) >= (select count(*) from records where domain_number = (select number from domain)) as "isSealed"`,
    );
    return row?.isSealed === true;
  };
  if (!(await waitUntil(isSealed, { deadlineMs: 300_000, intervalMs: 500 }))) throw new Error('sealing does not end');
}
