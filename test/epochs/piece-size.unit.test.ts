import postgres from 'postgres';
import { expect, it } from 'vitest';
import { TimedOut } from '#libs/base/timers';
import { createPieceSize } from '#libs/epochs/piece-size';

it('pieces are halved down to one record where they take too long, for no other reason, and grow again', async () => {
  const size = createPieceSize(100);
  const sizes: number[] = [];
  const watch = async (error?: Error) => {
    const work = () => (error ? Promise.reject(error) : Promise.resolve('done'));
    expect(await size.run(work).catch((thrown) => thrown)).toBe(error ?? 'done');
    sizes.push(size.maxRecords());
  };
  const refused = (code: string) => Object.assign(new postgres.PostgresError(''), { code });
  const closed = Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' });
  for (const error of [refused('55P03'), refused('40P01'), closed, new TimedOut()]) await watch(error);
  for (let times = 0; times < 8; times += 1) await watch(refused('57014'));
  expect(sizes).toEqual([100, 100, 100, 100, 50, 25, 12, 6, 3, 1, 1, 1]);
  sizes.length = 0;
  while (size.maxRecords() < 100) await watch();
  expect(sizes).toHaveLength(7 * 8);
  await watch();
  expect(size.maxRecords()).toBe(100);
});
