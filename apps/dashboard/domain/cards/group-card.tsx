/** The largest groups of one dimension. */
import type { ComponentChildren } from 'preact';
import type { Dimension } from '#libs/base/terms/terms';
import type { DomainStats } from '#libs/stats/contract';
import { dimensionNames } from '../../data/dimension-names.ts';
import { titleOf } from '../../data/dimensions.ts';
import { rowsOf } from '../../data/group-rows.ts';
import type { Period } from '../../data/periods.ts';
import { groupsAddress } from '../../data/router.ts';
import { count } from '../../format.ts';
import { GroupName, GroupRate, rateName } from '../../parts/group-cells.tsx';
import { NumberHead } from '../../parts/sort-head.tsx';

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
        <div class="table-frame">
          <table class="flush dense">
            <caption class="hidden">{title}</caption>
            <thead>
              <tr>
                <th scope="col">{titleOf(by)}</th>
                <NumberHead>Decisions</NumberHead>
                <NumberHead>{rateName(by)}</NumberHead>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, listed).map((row) => (
                <tr key={row.key}>
                  <GroupName by={by} row={row} largest={largest} />
                  <td class="number">{count(row.count)}</td>
                  <GroupRate rate={row.rate} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more > 0 && <p class="hint group-card-foot">and {count(more)} more</p>}
    </LinkedCard>
  );
}

interface CardProps {
  title: string;
  href: string;
  /** what it says; “Open” with the title, if absent */
  link?: string;
  children: ComponentChildren;
}

/** A card with a way to the page of what it shows. */
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
