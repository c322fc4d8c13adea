import { expect, it } from 'vitest';
import {
  forgetTombstones,
  forgetTombstonesOf,
  recallTombstones,
  rememberTombstones,
} from '#libs/privacy/tombstones-in-redis';
import { openRedis, openRedisServer } from '../support/stores.ts';

it('tombstones in Redis last for their time, also those that processes of 0.1.0 still note as a hash', async () => {
  const { client } = await openRedis((await openRedisServer()).url);
  const of = (organizationId: string, second: number) => ({
    organizationId,
    domainId: null,
    hash: 'ab'.repeat(32),
    erasedAt: new Date(second * 1_000).toISOString(),
  });
  const times = async () =>
    Object.fromEntries(
      (await recallTombstones(client)).map(({ organizationId, erasedAt }) => [
        organizationId,
        Date.parse(erasedAt) / 1_000,
      ]),
    );
  const noteAsBefore = ({ organizationId, hash, erasedAt }: ReturnType<typeof of>) =>
    client.hset('assent:tombstones', `${organizationId}//${hash}`, erasedAt);

  await rememberTombstones(client, [of('old', 10), of('both', 40), of('new', 30)]);
  // of two times the later one counts, in whichever order they come
  await rememberTombstones(client, [of('new', 20)]);
  for (const each of [of('former', 35), of('former-old', 15), of('both', 25)]) await noteAsBefore(each);
  const all = { old: 10, both: 40, new: 30, former: 35, 'former-old': 15 };
  expect(await times()).toEqual(all);
  await forgetTombstones(client, new Date(20_000));
  expect(await times()).toEqual({ both: 40, new: 30, former: 35 });
  expect(await client.exists('assent:tombstones')).toBe(0);
  await noteAsBefore(of('former', 50));
  expect(await times()).toEqual({ both: 40, new: 30, former: 50 });
  await forgetTombstonesOf(client, 'former');
  expect(await times()).toEqual({ both: 40, new: 30 });
});
