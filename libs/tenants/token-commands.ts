import { type KeyObject, randomBytes } from 'node:crypto';
import { Command } from 'commander';
import jsonwebtoken from 'jsonwebtoken';
import { z } from 'zod';
import type { Tools } from '#libs/base/cli/session';
import { flags, none, verbsOf } from '#libs/base/cli/verb';
import { scopes } from '#libs/base/terms/terms';
import { administer } from './administration.ts';
import { createPerform } from './audited-change.ts';
import { personSubject } from './person-tokens.ts';
import { findOrganizations } from './tenants.ts';

type TokenTools = Tools<{
  actor: string;
  /** seconds */
  maxTokenLifetime: number | undefined;
  signing(): {
    algorithm: string;
    keys: KeyObject[];
    keyId: string | undefined;
    issuer: string | undefined;
    audience: string | undefined;
    orgClaim: string;
    scopeClaim: string;
  };
}>;

const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `90s`, `15m`, `1h`, `30d`, in seconds */
const duration = z
  .string()
  .regex(/^0*[1-9]\d{0,5}[smhd]$/, 'must be a duration such as 90s, 15m, 1h or 30d')
  .transform((text) => Number.parseInt(text, 10) * (units[text.slice(-1)] ?? 0));

/** The API accepts such a subject only in people's tokens. */
const isFree = (subject: string) => !subject.startsWith(personSubject);

const isScopes = (words: string[]) => words.length > 0 && words.every((word) => scopes.some((scope) => scope === word));
/** `read manage` */
export const scopeList = z
  .string()
  .transform((text) => text.split(' ').filter((word) => word !== ''))
  .refine(isScopes, `must be one or more of ${scopes.join(', ')}, separated by spaces`)
  .transform((words) => words.join(' '));

const issueFlags = flags(
  z.object({
    // the API refuses a token without one
    subject: z
      .string()
      .min(1, 'must not be empty')
      .refine(isFree, `must not begin with ${personSubject}`)
      .default('operator')
      .describe('who it is for'),
    ttl: duration.default(3_600),
    scope: scopeList.default('read'),
  }),
  {
    ttl: ['--ttl <duration>', 'how long it is valid: 90s, 15m, 1h, 30d'],
    scope: ['--scope <scopes>', `what it may do: ${scopes.join(', ')}, separated by spaces`],
  },
);

export function tokenCommand(tools: TokenTools): Command {
  const noun = new Command('token').description('access tokens');
  const verb = verbsOf(noun);
  verb('issue <org>', issueFlags, async ({ subject, ttl, scope }, organizationId) => {
    const { maxTokenLifetime } = tools.config();
    const { algorithm, keys, keyId, issuer, audience, orgClaim, scopeClaim } = tools.config().signing();
    const [key] = keys;
    if (algorithm !== 'HS256' || !key) {
      throw new Error(`tokens are issued here only with HS256; JWT_ALGORITHM is ${algorithm}`);
    }
    if (maxTokenLifetime !== undefined && ttl > maxTokenLifetime) {
      const hours = maxTokenLifetime / 3_600;
      throw new Error(`the API refuses tokens that are valid for more than ${hours} h (JWT_MAX_LIFETIME)`);
    }
    const found = await tools.database((db) => db.read((sql) => findOrganizations(sql, [organizationId])));
    if (!found.has(organizationId)) throw new Error(`no organization ${organizationId}`);
    const expiresAt = Math.floor(Date.now() / 1000) + ttl;
    const claims = {
      sub: subject,
      [orgClaim]: organizationId,
      [scopeClaim]: scope,
      exp: expiresAt,
      jti: randomBytes(8).toString('hex'),
    };
    const token = jsonwebtoken.sign(claims, key, {
      algorithm,
      ...(keyId && { keyid: keyId }),
      ...(issuer && { issuer }),
      ...(audience && { audience }),
    });
    const expires = new Date(expiresAt * 1000).toISOString();
    const details = { sub: subject, scope, expiresAt: expires };
    await tools.database((db) =>
      createPerform(
        db,
        tools.config().actor,
      )((_, note) => note({ act: 'token.create', subject: claims.jti, organizationId, details })),
    );
    return { token, jti: claims.jti, expiresAt: expires };
  }).description('issue an access token of an organization (HS256; with public keys the host product issues them)');

  verb('revoke <org> <jti>', none, (_, organizationId, jti) =>
    administer(tools, (admin) => admin.revokeToken(organizationId, jti, tools.config().maxTokenLifetime)),
  ).description('revoke one access token; `org revoke-tokens` revokes all of an organization');
  return noun;
}
