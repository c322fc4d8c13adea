/** The statistics of a range of days on the command line, straight from Postgres: the figures of `stats` with `by`. */
import { Command, Option } from 'commander';
import { isJson, listed, print, type Tools } from '#libs/base/cli/session';
import type { Database } from '#libs/base/db/database';
import { cover } from '#libs/base/terms/calendar';
import {
  type OrganizationDimension,
  organizationDimensions,
  sumOf,
  totalOf,
  wholeOrganization,
} from '#libs/base/terms/terms';
import { requireSubject } from '#libs/tenants/command-subject';
import { type CategoryGroup, organizationStatsQuery, type StatsGroup } from './contract.ts';
import { readFacetProgress, readFacets } from './facets.ts';
import { groupedFigures } from './groups.ts';
import { readCounts } from './stored-counters.ts';

interface Options {
  org?: string;
  domain?: string;
  from: string;
  to: string;
  by: OrganizationDimension;
}

export function statsCommand(tools: Tools): Command {
  return new Command('stats')
    .description('decisions, choices and the opt-in rate of a range of days, by country and so on')
    .option('--org <org>', 'of all domains of this organization')
    .option('--domain <domain>', 'of this domain')
    .requiredOption('--from <date>', 'first UTC day, YYYY-MM-DD')
    .requiredOption('--to <date>', 'last UTC day; at most 366 days')
    .addOption(new Option('--by <dimension>', 'what to group by').choices(organizationDimensions).default('country'))
    .action(async (options: Options, self: Command) => {
      const { from, to, by, domain } = options;
      if (by === 'domain' && domain !== undefined) throw new Error('--by domain needs --org');
      const [issue] = organizationStatsQuery.safeParse({ from, to, by }).error?.issues ?? [];
      // the command always groups, even without --by
      if (issue?.path[0] === 'by')
        throw new Error('--from and --to may cover at most 366 days: choose a shorter range');
      if (issue) throw new Error(`--${issue.path.join()} ${issue.message.replace('`to`', '--to')}`);
      const { groups, ...sums } = await tools.database((db) => read(db, options));
      if (isJson(self)) return print(self, { ...sums, groups });
      const { breakdown, ...figures } = sums;
      print(self, { ...figures, ...breakdown });
      process.stdout.write('\n');
      await listed('groups', groups.map(toRow), withoutGroups(sums.total))(self);
    });
}

const withoutGroups = (total: number): string =>
  total === 0
    ? 'no decisions in these days'
    : 'no groups yet: groups leave out crawlers, and include new records only after a minute or so';

async function read(db: Database, { from, to, by, ...about }: Options) {
  const { organizationId, domainId = wholeOrganization } = await requireSubject(db, about);
  const owner = { organizationId, domainId };
  const spans = cover(from, to);
  const wanted = [by, 'source', 'crawlers'] as const;
  const { at: through } = await db.read(readFacetProgress);
  const [counts, found] = await Promise.all([
    db.read((sql) => readCounts(sql, { ...owner, spans })),
    db.read((sql) => readFacets(sql, { ...owner, dimensions: [...wanted], spans })),
  ]);
  const breakdown = sumOf(counts.values());
  const whose = domainId === wholeOrganization ? { organizationId } : { domainId };
  return { ...whose, from, to, through, total: totalOf(breakdown), breakdown, ...groupedFigures(by, found) };
}

const toRow = ({ value, other, ...figures }: StatsGroup | CategoryGroup) => {
  const name = { value: other ? 'all others' : value };
  if ('allowed' in figures) return { ...name, allowed: figures.allowed, denied: figures.denied };
  const { total, breakdown, choices, optInRate, lastDecisionAt } = figures;
  const last = lastDecisionAt !== undefined && { lastDecisionAt };
  return {
    ...name,
    total,
    ...breakdown,
    choices,
    optInRate: optInRate === null ? null : optInRate.toFixed(4),
    ...last,
  };
};
