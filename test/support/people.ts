/** People as they use the service: a browser on its pages, with a cookie. */
import { hash, randomBytes } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import type { Scope } from '#libs/base/terms/terms';
import type { SignedIn } from '#libs/people/contract';
import { makeLink } from '#libs/people/links';
import { hashPassword } from '#libs/people/passwords';
import { createPerson } from '#libs/people/people';
import { openSession } from '#libs/people/sessions';
import { createPerform, partOf } from '#libs/tenants/audited-change';
import { peopleChanges } from '#libs/tenants/organization-people';
import type { createCli } from './cli.ts';
import { type Answer, type ProblemAnswer, request } from './client.ts';

/** What an API with accounts is started with. */
export const accountSettings = { PUBLIC_URL: 'https://consent.example.com' };
export const origin = accountSettings.PUBLIC_URL;

/** Easy to remember, hard to guess. */
export const password = 'four quiet lamps in may';

/** One browser: it keeps the cookie, and sends it with each request. */
export function openBrowser(baseUrl: string, from: Record<string, string> = { origin }) {
  const jar = { cookie: '' };
  const ask = async <Body = SignedIn>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body & ProblemAnswer>> => {
    const response = await request<Body & ProblemAnswer>(baseUrl, path, {
      method,
      headers: {
        ...from,
        ...(jar.cookie && { cookie: jar.cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const [pair = ''] = response.headers.getSetCookie().map((each) => each.split(';')[0] ?? '');
    if (pair) jar.cookie = pair.endsWith('=') ? '' : pair;
    return response;
  };
  const post = <Body = SignedIn>(path: string, body: unknown = {}, headers?: Record<string, string>) =>
    ask<Body>('POST', `/v1/${path}`, body, headers);
  return {
    jar,
    post,
    /** with an access token */
    as: <Body = object>(token: string, method: string, path: string, body?: unknown) =>
      ask<Body>(method, `/v1/${path}`, body, { authorization: `Bearer ${token}` }),
    signIn: (email: string, given = password) => post('sign-in/password', { email, password: given }),
  };
}

let stored: Promise<string> | undefined;

interface AccountOptions {
  organizationId: string;
  scopes?: Scope[];
  email?: string;
}

/** Somebody with an account and a session, without the time that a password takes. */
export async function addAccount(
  db: Database,
  { organizationId, scopes = ['read'], email = someone() }: AccountOptions,
) {
  stored ??= hashPassword(password, { log2n: 10, r: 8, p: 1 });
  const hashed = await stored;
  return createPerform(
    db,
    'test',
  )(async (sql, note) => {
    const number = await createPerson(sql, { email, name: 'Ann Example', password: hashed });
    const who = { email, personNumber: number };
    const { personId } = await peopleChanges(partOf(sql, note)).addPerson(organizationId, who, { scopes });
    return { email, personId, secret: await openSession(sql, { number, password: hashed }, organizationId) };
  });
}

export const someone = (): string => `ann.${randomBytes(4).toString('hex')}@example.com`;

/** The same in a browser. */
export async function joinedAs(db: Database, baseUrl: string, options: AccountOptions) {
  const { email, personId, secret } = await addAccount(db, options);
  const browser = openBrowser(baseUrl);
  browser.jar.cookie = `__Host-assent=${secret}`;
  const { token } = (await browser.post('sign-in/renew')).body;
  return { email, personId, browser, token };
}

/** Invites somebody, and resolves to the secret of the link. */
export const invite = (db: Database, organizationId: string, email: string, scopes: Scope[]): Promise<string> =>
  createPerform(
    db,
    'test',
  )(async (sql, note) => {
    const changes = peopleChanges(partOf(sql, note));
    const { number } = await changes.addPerson(organizationId, { email }, { scopes });
    return (await makeLink(sql, { memberNumber: number })).secret;
  });

/** The secret of a link that the operator prints for a new password. */
export async function resetSecret(cli: Pick<ReturnType<typeof createCli>, 'json'>, email: string): Promise<string> {
  const { resetUrl } = await cli.json<{ resetUrl: string }>('person', 'reset', email);
  return resetUrl.replace(`${origin}/invitation#reset=`, '');
}

/** The stored hash of a secret. */
export const storedAs = (secret: string): Buffer => Buffer.from(hash('sha256', secret, 'hex'), 'hex');
