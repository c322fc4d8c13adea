/** The largest groups of one dimension. */
import type { ComponentChildren } from 'preact';
import type { Dimension } from '#libs/base/terms/terms';
import type { DomainStats } from '#libs/stats/contract';
import { dimensionNames } from '../../data/dimension-names.ts';
import { rowsOf } from '../../data/group-rows.ts';
import type { Period } from '../../data/periods.ts';
import { groupsAddress } from '../../data/router.ts';
import { count } from '../../format.ts';
import { FramedTable } from '../../parts/framed-table.tsx';
import { decided, groupName, groupRate } from '../../parts/group-cells.tsx';

const listed = 5;

interface Props {
  domainId: string;
  by: Dimension;
  period: Period;
  stats: DomainStats;
}

export function GroupCard({ domainId, by, period, stats }: Props) {
  const rows = rowsOf(by, stats);
  const largest = Math.max(1, ...rows.map((row) => row.count));
  const more = rows.length - listed;
  const title = `By ${dimensionNames[by]}`;
  return (
    <LinkedCard title={title} href={groupsAddress(domainId, by, { ...period })}>
      {rows.length === 0 ? (
        <p class="muted">{by === 'category' ? 'No choices by category yet.' : 'No decisions yet.'}</p>
      ) : (
        <FramedTable
          class="flush dense"
          caption={title}
          rows={rows.slice(0, listed)}
          keyOf={(row) => row.key}
          columns={[groupName(by, largest), decided, groupRate(by)]}
        />
      )}
      {more > 0 && <p class="hint group-card-foot">and {count(more)} more</p>}
    </LinkedCard>
  );
}

interface CardProps {
  title: string;
  href: string;
  /** its text; default: “Open” and the title */
  link?: string;
  children: ComponentChildren;
}

/** A card with a link to the page with the details. */
export const LinkedCard = ({ title, href, link, children }: CardProps) => (
  <section class="card upright group-card" aria-label={title}>
    <header class="card-head">
      <h2>{title}</h2>
      <a href={href}>
        {link ?? 'Open'}
        {link === undefined && <span class="hidden"> {title.toLowerCase()}</span>}
      </a>
    </header>
    {children}
  </section>
);
