/**
 * `Idempotency-Key`: who sends a POST again, because no answer came, gets the answer of the first one. It is kept in the
 * transaction of the change, so there is no change without it, and found only after the request was checked as any other.
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
 * If the request has a key, the change and the reply that shows it are made in one transaction. A reply that shows a secret
 * is kept encrypted. Throws a 400 for a key that is none, a 409 while the first one is under way, a 422 where that had
 * another body.
 */
export type Once = <Body extends object>(
  kept: 'plain' | 'encrypted',
  change: (perform: Perform) => Promise<Reply<Body>>,
) => Promise<Reply<Body | string>>;

/** Answers are kept under the first, and found under both. */
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
  async (how, change) => {
    const { subject } = accessIn(ctx);
    const perform = createPerform(db, subject);
    const key = keyIn(ctx);
    if (key === undefined) return change(perform);
    const { organizationId, cursorKey } = organizationIn(ctx);
    const digest = (...parts: string[]) => createHmac('sha256', cursorKey).update(JSON.stringify(parts)).digest();
    const asked = digest('request', subject, ctx.method, ctx.path, key);
    const body = digest('body', JSON.stringify(sent ?? null));
    const name = asked.toString('hex');
    const box = how === 'encrypted' ? requireBox(config) : undefined;
    return perform(async (sql, note) => {
      await lock(sql, name);
      const kept = await findAnswer(sql, organizationId, asked);
      if (kept && !kept.body.equals(body))
        throw new Problem('idempotency_mismatch', 'this Idempotency-Key was sent with another body');
      if (kept) return again(parse(box ? open(box, name, kept.answer) : kept.answer));
      const reply = await change(partOf(sql, note));
      const bytes = Buffer.from(JSON.stringify(answerOf(reply)));
      await keep(sql, { organizationId, asked, body, answer: box ? box.seal(name, bytes) : bytes });
      return reply;
    });
  };

/** What is kept. Other releases read it, too. */
interface Answer {
  status: number;
  body: object;
  etag?: string;
}

const answerOf = ({ status = 200, body, version }: Reply<object>) => ({
  status,
  body,
  ...(version !== undefined && { etag: tagOf({ version }) }),
});

const again = ({ status, body, etag }: Answer): Reply<string> => ({
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
  throw notConfigured('this installation has no SECRETS_KEY, which answers with secrets are kept under');
}

function open(box: SecretBox, name: string, sealed: Buffer): Buffer {
  try {
    return box.open(name, sealed);
  } catch (error) {
    throw new Problem('idempotency_mismatch', 'the answer was kept under a SECRETS_KEY that has changed since', {
      cause: error,
    });
  }
}

const parse = (bytes: Buffer): Answer => JSON.parse(bytes.toString());

/** Until the end of the transaction. */
async function lock(sql: Sql, name: string): Promise<void> {
  const [row] = await sql<{ free: boolean }[]>`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as free`;
  if (!row?.free) throw new Problem('in_progress', 'the first request with this Idempotency-Key is under way');
}

interface Kept {
  body: Buffer;
  answer: Buffer;
}

/** Hours for which an answer is kept. */
const keptFor = 24;

/** `asked`: the digest of a request. */
export async function findAnswer(sql: Sql, organizationId: string, asked: Buffer): Promise<Kept | undefined> {
  const [kept] = await sql<Kept[]>`
    select body, answer from idempotent_answers
    where organization_number = (select number from organizations where id = ${organizationId}) and request = ${asked}
      and made_at > ${earlierNow(sql, new Date())} - ${keptFor} * interval '1 hour'`;
  return kept;
}

const keep = (
  sql: Sql,
  { organizationId, asked, body, answer }: Kept & { organizationId: string; asked: Buffer },
) => sql`
  insert into idempotent_answers as a (organization_number, request, body, answer)
  select number, ${asked}, ${body}, ${answer} from organizations where id = ${organizationId}
  on conflict (organization_number, request) do update set
    body = excluded.body, answer = excluded.answer, made_at = excluded.made_at`;

/** rows in one statement */
const slice = 5_000;

/** Deletes answers that are too old. */
export async function deleteOldAnswers(db: Pick<Database, 'write'>, here = new Date()): Promise<void> {
  for (let last = slice; last === slice; ) {
    const { count } = await db.write(
      (sql) => sql`
        delete from idempotent_answers where (organization_number, request) in (
          select organization_number, request from idempotent_answers
          where made_at < ${earlierNow(sql, here)} - ${keptFor} * interval '1 hour'
          order by made_at limit ${slice}
        )`,
    );
    last = count;
  }
}
