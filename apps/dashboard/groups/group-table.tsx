/** The groups as a table that can be sorted, and saved as CSV. */
import { useState } from 'preact/hooks';
import type { Decision, Dimension } from '#libs/base/terms/terms';
import type { DomainStats } from '#libs/stats/contract';
import { decisionNames, decisions } from '../data/decisions.ts';
import { dimensionNames } from '../data/dimension-names.ts';
import { titleOf } from '../data/dimensions.ts';
import { changeOf, isShown, type Row, rowsOf } from '../data/group-rows.ts';
import { type Sort, sorted } from '../data/sorted.ts';
import { downloadText } from '../download.ts';
import { count, dayRange, points, share } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { GroupName, GroupRate, rateName } from '../parts/group-cells.tsx';
import { NumberHead, SortHead } from '../parts/sort-head.tsx';
import { groupCsv } from './group-csv.ts';

type Column = Decision | 'name' | 'count' | 'rate' | 'before' | 'change' | 'noChoice';

const valueIn: Record<Column, (row: Row) => string | number | null> = {
  name: ({ name }) => name,
  count: (row) => row.count,
  rate: ({ rate }) => rate,
  before: ({ before }) => before?.rate ?? null,
  change: changeOf,
  noChoice: ({ noChoiceRate }) => noChoiceRate ?? null,
  accept_all: ({ breakdown }) => breakdown?.accept_all ?? null,
  custom: ({ breakdown }) => breakdown?.custom ?? null,
  reject_all: ({ breakdown }) => breakdown?.reject_all ?? null,
  withdraw: ({ breakdown }) => breakdown?.withdraw ?? null,
};

interface Props {
  domainId: string;
  by: Dimension;
  stats: DomainStats;
  before: DomainStats | null;
}

export function GroupTable({ domainId, by, stats, before }: Props) {
  const [sort, setSort] = useState<Sort<Column>>({ by: 'count', isDescending: true });
  const all = rowsOf(by, stats, before);
  if (all.length === 0) return <p>No decisions in these days.</p>;
  const rows = sorted(all, valueIn[sort.by], sort.isDescending);
  const sum = all.reduce((total, row) => total + row.count, 0);
  const largest = Math.max(1, ...all.map((row) => row.count));
  const isCategory = by === 'category';
  const hasDisplays = all.some(isShown);
  const heads = { sort, setSort };
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <section class="table-frame" aria-label={`Decisions by ${dimensionNames[by]}`} tabIndex={0}>
        <table>
          <caption class="hidden">Decisions by {dimensionNames[by]}</caption>
          <thead>
            <tr>
              <SortHead column="name" isText {...heads}>
                {titleOf(by)}
              </SortHead>
              <SortHead column="count" {...heads}>
                Decisions
              </SortHead>
              {!isCategory && <NumberHead class="wide-only">Share</NumberHead>}
              {!isCategory &&
                decisions.map((name) => (
                  <SortHead key={name} column={name} {...heads}>
                    {decisionNames[name]}
                  </SortHead>
                ))}
              <SortHead column="rate" {...heads}>
                {rateName(by)}
              </SortHead>
              {before && (
                <SortHead column="before" {...heads}>
                  Before
                </SortHead>
              )}
              {before && (
                <SortHead column="change" {...heads}>
                  Change
                </SortHead>
              )}
              {hasDisplays && <NumberHead>Displays</NumberHead>}
              {hasDisplays && (
                <SortHead column="noChoice" {...heads}>
                  No-choice rate
                </SortHead>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <GroupName by={by} row={row} largest={largest} />
                <td class="number">{count(row.count)}</td>
                {!isCategory && <td class="number wide-only">{share(row.count / Math.max(1, sum))}</td>}
                {!isCategory &&
                  decisions.map((name) => (
                    <td key={name} class="number">
                      {count(row.breakdown?.[name] ?? 0)}
                    </td>
                  ))}
                <GroupRate rate={row.rate} />
                {before && <td class="number muted">{earlier(row)}</td>}
                {before && <td class="number">{change(row)}</td>}
                {hasDisplays && <td class="number">{row.displays === undefined ? 'none' : count(row.displays)}</td>}
                {hasDisplays && <td class="number">{share(row.noChoiceRate ?? null)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="cluster baseline spread groups-foot">
        <p class="muted">
          {before
            ? `Before: ${dayRange(before.from, before.to)}. Change: in percentage points of ${isCategory ? 'the share that allowed' : 'the opt-in rate'}.`
            : 'There is no period before to compare with.'}
        </p>
        <Button
          text="Export CSV"
          onClick={() =>
            downloadText(
              `${domainId}-${by}-${stats.from}-${stats.to}.csv`,
              'text/csv',
              groupCsv(by, rows, before !== null),
            )
          }
        />
      </div>
    </>
  );
}

function earlier({ before }: Row): string {
  if (!before) return 'none';
  return before.rate === null ? 'no choices' : share(before.rate);
}

function change(row: Row): string {
  const difference = changeOf(row);
  return difference === null ? '–' : points(0, difference);
}
