import { type KeyObject, randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import jsonwebtoken from 'jsonwebtoken';
import { print, type Tools } from '#libs/base/cli/session';
import { type Scope, scopes } from '#libs/base/terms/terms';
import { administer } from './administration.ts';
import { createPerform } from './audited-change.ts';
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
const duration = (text: string): number => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (units[unit] ?? 0);
  if (!(seconds > 0)) throw new InvalidArgumentError('must be a duration such as 90s, 15m, 1h or 30d');
  return seconds;
};

/** `read manage` */
const scopeList = (text: string): string => {
  const words = text.split(' ').filter((word) => word !== '');
  const isScope = (word: string): word is Scope => scopes.some((scope) => scope === word);
  if (words.length === 0 || !words.every(isScope)) {
    throw new InvalidArgumentError(`must be one or more of ${scopes.join(', ')}, separated by spaces`);
  }
  return words.join(' ');
};

/** The API refuses a token without one. */
const subject = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('must not be empty');
  return text;
};

export function tokenCommand(tools: TokenTools): Command {
  const command = new Command('token').description('access tokens');
  command
    .command('issue <org>')
    .description('issue an access token of an organization (HS256; with public keys the host product issues them)')
    .option('--subject <subject>', 'who it is for', subject, 'operator')
    .option('--ttl <duration>', 'how long it is valid: 90s, 15m, 1h, 30d', duration, 3_600)
    .option('--scope <scopes>', `what it may do: ${scopes.join(', ')}, separated by spaces`, scopeList, 'read')
    .action(async (organizationId: string, options: { subject: string; ttl: number; scope: string }, self: Command) => {
      const { maxTokenLifetime } = tools.config();
      const { algorithm, keys, keyId, issuer, audience, orgClaim, scopeClaim } = tools.config().signing();
      const [key] = keys;
      if (algorithm !== 'HS256' || !key) {
        throw new Error(`tokens are issued here only with HS256; JWT_ALGORITHM is ${algorithm}`);
      }
      if (maxTokenLifetime !== undefined && options.ttl > maxTokenLifetime) {
        const hours = maxTokenLifetime / 3_600;
        throw new Error(`the API refuses tokens that are valid for more than ${hours} h (JWT_MAX_LIFETIME)`);
      }
      const found = await tools.database((db) => db.read((sql) => findOrganizations(sql, [organizationId])));
      if (!found.has(organizationId)) throw new Error(`no organization ${organizationId}`);
      const expiresAt = Math.floor(Date.now() / 1000) + options.ttl;
      const claims = {
        sub: options.subject,
        [orgClaim]: organizationId,
        [scopeClaim]: options.scope,
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
      const details = { sub: options.subject, scope: options.scope, expiresAt: expires };
      await tools.database((db) =>
        createPerform(
          db,
          tools.config().actor,
        )((_, note) => note({ act: 'token.create', subject: claims.jti, organizationId, details })),
      );
      print(self, { token, jti: claims.jti, expiresAt: expires });
    });
  command
    .command('revoke <org> <jti>')
    .description('revoke one access token; `org revoke-tokens` revokes all of an organization')
    .action(async (organizationId: string, jti: string, _: object, self: Command) => {
      const { maxTokenLifetime } = tools.config();
      print(self, await administer(tools, (admin) => admin.revokeToken(organizationId, jti, maxTokenLifetime)));
    });
  return command;
}
