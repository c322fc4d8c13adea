/** Access tokens that are refused before they expire. */

import { clockTolerance } from '#libs/base/db/clock';
import type { Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';
import type { Perform } from './audited-change.ts';
import { Refused, requireRoom } from './change-errors.ts';
import { afterAllTokens } from './deletion.ts';
import { mostRevoked } from './tenants.ts';

export const tokenChanges = (perform: Perform) => ({
  /**
   * A token states only the second in which it was issued, so those of the current second are revoked, too. Rejects with
   * Refused while the clocks differ: a wrong clock would revoke no tokens, or also future ones.
   */
  revokeTokens: (organizationId: string) =>
    perform(async (sql, note) => {
      await requireOneTime(sql);
      const [organization] = await sql<{ tokensSince: Date }[]>`
          update organizations set tokens_since = date_trunc('second', clock_timestamp()) + interval '1 second'
          where id = ${organizationId} and tokens_since is distinct from ${afterAllTokens}::timestamptz
          returning tokens_since as "tokensSince"`;
      if (!organization) throw new Refused(`no organization ${organizationId}, or it is being deleted`);
      const tokensSince = organization.tokensSince.toISOString();
      // this covers tokens that were revoked one by one, except the newest, whose `iat` may be ahead of our clock
      await sql`
          delete from revoked_tokens
          where organization_number = (select number from organizations where id = ${organizationId})
            and revoked_at < ${tokensSince}::timestamptz - interval '1 minute'`;
      await note({ act: 'org.revoke-tokens', subject: organizationId, organizationId, details: { tokensSince } });
      return { organizationId, tokensSince };
    }),

  /**
   * Revokes the access tokens with this `jti`, and no others. `maxLifetime`, in seconds: how long tokens may be valid, if
   * that is limited; if set, the revocation expires an hour after that; if not, it stays until all tokens are revoked.
   */
  revokeToken: (
    organizationId: string,
    jti: string,
    maxLifetime: number | undefined,
  ): Promise<{ jti: string; revokedAt: Date }> =>
    perform(async (sql, note) => {
      const [organization] = await sql<{ number: number }[]>`
          select number from organizations where id = ${organizationId} for no key update`;
      if (!organization) throw new Refused(`no organization ${organizationId}`);
      const { number } = organization;
      await sql`delete from revoked_tokens where organization_number = ${number} and expires_at < ${earlierNow(sql, new Date())}`;
      await requireRoom(
        mostRevoked,
        'revoked tokens',
        sql<{ there: number }[]>`
            select count(*)::int as there from revoked_tokens where organization_number = ${number} and jti <> ${jti}`,
      );
      const [revoked] = await sql<{ revokedAt: Date }[]>`
          insert into revoked_tokens (organization_number, jti, expires_at)
          values (
            ${number}, ${jti},
            greatest(clock_timestamp(), ${new Date()}) + ${expiresAfter(maxLifetime)}::float8 * interval '1 second'
          )
          on conflict (organization_number, jti) do update set expires_at = excluded.expires_at
          returning revoked_at as "revokedAt"`;
      if (!revoked) throw new Error('a token was not revoked');
      await note({ act: 'org.revoke-token', subject: organizationId, organizationId, details: { jti } });
      return { jti, ...revoked };
    }),
});

async function requireOneTime(sql: Sql): Promise<void> {
  const [row] = await sql<{ theirs: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as theirs`;
  const ahead = Date.now() - (row?.theirs ?? Number.NaN);
  if (!(Math.abs(ahead) <= clockTolerance))
    throw new Refused(
      `the clocks of this process and of Postgres differ by ${Math.round(ahead / 1_000)} seconds: tokens are revoked by their time, so set the clock right first`,
    );
}

/** Seconds, with room for clocks that differ. */
const expiresAfter = (maxLifetime: number | undefined): number | null =>
  maxLifetime === undefined ? null : maxLifetime + 3_600;
