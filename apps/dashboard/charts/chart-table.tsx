/** The figures of a chart as a table. */
import { useState } from 'preact/hooks';
import { decisionNames, decisions } from '../data/decisions.ts';
import { count, share } from '../format.ts';
import type { Bucket } from './scale.ts';

/** The rows are rendered only when the table is opened. */
export function ChartTable({ label, buckets, unit }: { label: string; buckets: Bucket[]; unit: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="figures" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        <section class="table-frame" aria-label={`${label}, as a table`} tabIndex={0}>
          <table>
            <caption class="hidden">{label}</caption>
            <thead>
              <tr>
                <th scope="col">{unit} (UTC)</th>
                {[...decisions.map((name) => decisionNames[name]), 'Decisions', 'Opt-in rate'].map((name) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[...buckets].reverse().map((bucket) => (
                <tr key={bucket.name}>
                  <th scope="row">{bucket.name}</th>
                  {decisions.map((name) => (
                    <td key={name} class="number">
                      {count(bucket[name])}
                    </td>
                  ))}
                  <td class="number">{count(bucket.total)}</td>
                  <td class="number">{share(bucket.optInRate ?? null)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
