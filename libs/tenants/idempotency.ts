/**
 * `Idempotency-Key`: a repeated POST gets the response of the first one. The response is stored in the transaction of the
 * change, so neither exists without the other, and it is looked up only after the request has passed all other checks.
 */
import { createHmac } from 'node:crypto';
import type { Database, Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';
import type { Context } from '#libs/base/http/context';
import { tagOf } from '#libs/base/http/etag';
import { createSecretBox, type SecretBox } from '#libs/base/secret-box';
import { refuseFields } from '#libs/base/terms/field-errors';
import { notConfigured, Problem } from '#libs/base/terms/problem';
import { createPerform, type Perform, partOf } from './audited-change.ts';
import { accessIn, organizationIn } from './bearer.ts';
import type { Reply } from './reply.ts';

/**
 * With a key, the change is made and its response is stored in one transaction. A response with a secret is stored
 * encrypted. Throws a 400 for a malformed key, a 409 while the first request is in progress, a 422 if that had another
 * body.
 */
export type Once = <Body extends object>(
  storage: 'plain' | 'encrypted',
  change: (perform: Perform) => Promise<Reply<Body>>,
) => Promise<Reply<Body | string>>;

/** Responses are encrypted with the first key, and decrypted with either. */
export interface SecretKeys {
  secretsKey: Buffer | undefined;
  previousSecretsKey: Buffer | undefined;
}

interface Parts {
  config: SecretKeys;
  db: Database;
}

/** `sent`: the body, checked, in the order of its schema. */
export const onceFor =
  (ctx: Context, { config, db }: Parts, sent: unknown): Once =>
  async (storage, change) => {
    const { subject } = accessIn(ctx);
    const perform = createPerform(db, subject);
    const key = keyIn(ctx);
    if (key === undefined) return change(perform);
    const { organizationId, cursorKey } = organizationIn(ctx);
    const digest = (...parts: string[]) => createHmac('sha256', cursorKey).update(JSON.stringify(parts)).digest();
    const asked = digest('request', subject, ctx.method, ctx.path, key);
    const body = digest('body', JSON.stringify(sent ?? null));
    const name = asked.toString('hex');
    const box = storage === 'encrypted' ? requireBox(config) : undefined;
    return perform(async (sql, note) => {
      await lock(sql, name);
      const stored = await findResponse(sql, organizationId, asked);
      if (stored && !stored.body.equals(body))
        throw new Problem('idempotency_mismatch', 'this Idempotency-Key was sent with another body');
      if (stored) return repeat(parse(box ? open(box, name, stored.response) : stored.response));
      const reply = await change(partOf(sql, note));
      const bytes = Buffer.from(JSON.stringify(responseOf(reply)));
      await store(sql, { organizationId, asked, body, response: box ? box.seal(name, bytes) : bytes });
      return reply;
    });
  };

/** As it is stored. Other releases read it, too. */
interface Response {
  status: number;
  body: object;
  etag?: string;
}

const responseOf = ({ status = 200, body, version }: Reply<object>) => ({
  status,
  body,
  ...(version !== undefined && { etag: tagOf({ version }) }),
});

const repeat = ({ status, body, etag }: Response): Reply<string> => ({
  status,
  body: JSON.stringify(body),
  type: 'application/json',
  headers: { 'Idempotent-Replayed': 'true', ...(etag !== undefined && { ETag: etag }) },
});

const pattern = /^[\x21-\x7e]{1,128}$/;

function keyIn(ctx: Context): string | undefined {
  const given = ctx.req.headers['idempotency-key'];
  if (given === undefined) return undefined;
  if (typeof given === 'string' && pattern.test(given)) return given;
  throw refuseFields([{ path: '/Idempotency-Key', in: 'header', message: 'must have 1 to 128 visible characters' }]);
}

function requireBox({ secretsKey, previousSecretsKey }: SecretKeys): SecretBox {
  if (secretsKey) return createSecretBox(secretsKey, previousSecretsKey);
  throw notConfigured('this installation has no SECRETS_KEY, which encrypts stored responses');
}

function open(box: SecretBox, name: string, sealed: Buffer): Buffer {
  try {
    return box.open(name, sealed);
  } catch (error) {
    throw new Problem('idempotency_mismatch', 'the response was stored under a SECRETS_KEY that has changed since', {
      cause: error,
    });
  }
}

const parse = (bytes: Buffer): Response => JSON.parse(bytes.toString());

/** Locks until the end of the transaction. */
async function lock(sql: Sql, name: string): Promise<void> {
  const [row] = await sql<{ free: boolean }[]>`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as free`;
  if (!row?.free) throw new Problem('in_progress', 'the first request with this Idempotency-Key is in progress');
}

interface Stored {
  body: Buffer;
  response: Buffer;
}

/** hours */
const storedFor = 24;

/** `asked`: the digest of a request. */
export async function findResponse(sql: Sql, organizationId: string, asked: Buffer): Promise<Stored | undefined> {
  const [stored] = await sql<Stored[]>`
    select body, answer as response from idempotent_answers
    where organization_number = (select number from organizations where id = ${organizationId}) and request = ${asked}
      and made_at > ${earlierNow(sql, new Date())} - ${storedFor} * interval '1 hour'`;
  return stored;
}

const store = (
  sql: Sql,
  { organizationId, asked, body, response }: Stored & { organizationId: string; asked: Buffer },
) => sql`
  insert into idempotent_answers as a (organization_number, request, body, answer)
  select number, ${asked}, ${body}, ${response} from organizations where id = ${organizationId}
  on conflict (organization_number, request) do update set
    body = excluded.body, answer = excluded.answer, made_at = excluded.made_at`;

/** rows in one statement */
const slice = 5_000;

export async function deleteOldResponses(db: Pick<Database, 'write'>, here = new Date()): Promise<void> {
  for (let last = slice; last === slice; ) {
    const { count } = await db.write(
      (sql) => sql`
        delete from idempotent_answers where (organization_number, request) in (
          select organization_number, request from idempotent_answers
          where made_at < ${earlierNow(sql, here)} - ${storedFor} * interval '1 hour'
          order by made_at limit ${slice}
        )`,
    );
    last = count;
  }
}
