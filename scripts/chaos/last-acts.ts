/**
 * What a visitor and an operator were told in the last moment before a failover: that an erasure is done, that a key is
 * revoked. A promoted replica may lack both, and docs/operations.md says how they are put right.
 */
import type { AssentProcess } from '../stack/assent-process.ts';
import { signToken } from '../stack/client.ts';
import type { Scene } from './drill.ts';
import { makeBody } from './load.ts';

interface LastAct {
  perform(): Promise<void>;
  /** Expects that it is undone, and does what puts it right. */
  putRight(): Promise<void>;
}

/** The visitor has a record from now on. */
export async function eraseLast(scene: Scene, { baseUrl }: AssentProcess): Promise<LastAct> {
  const { site, load } = scene;
  const attempt = await load.send(site, makeBody());
  const { id, visitorId } = attempt.body;
  const isThere = async () => {
    const [record] = await scene.sql(
      (sql) => sql<{ visitorId: string | null }[]>`select visitor_id as "visitorId" from records where id = ${id}`,
    );
    return record?.visitorId === visitorId;
  };
  await scene.until(isThere, 'the record of a visitor is stored');
  return {
    perform: async () => {
      const token = signToken(site.organizationId, scene.jwtSecret, 'privacy');
      const response = await fetch(`${baseUrl}/v1/organization/visitors/${visitorId}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      });
      const { state } = (await response.json()) as { state: string };
      scene.expect(state === 'done', `the erasure is answered ${response.status} ${state}`);
      attempt.isErased = true;
    },
    putRight: async () => {
      scene.expect(await isThere(), 'the erasure is undone');
      await scene.assent('visitor', 'erase', '--replay');
      scene.expect(!(await isThere()), 'the replay erases the visitor again');
    },
  };
}

/** There is a second key from now on. */
export async function revokeLast(scene: Scene): Promise<LastAct> {
  const { site, load } = scene;
  const made = JSON.parse(await scene.assent('--json', 'key', 'create', site.domainId)) as { apiKey: string };
  const { apiKey } = made;
  const record = async () => (await load.send({ ...site, apiKey }, makeBody())).status;
  const revoke = async () => {
    await scene.assent('key', 'revoke', site.domainId, apiKey);
    await scene.until(async () => (await record()) === 401, 'the revoked key is refused');
  };
  await scene.until(async () => (await record()) === 202, 'the key is accepted');
  return {
    perform: revoke,
    putRight: async () => {
      scene.expect((await record()) === 202, 'the key is valid again');
      await revoke();
    },
  };
}
