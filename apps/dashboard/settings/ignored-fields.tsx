/** Fields that were dropped from the domain's newest records and displays, because of a mistake in the integration. */
import type { IgnoredField } from '#libs/tenants/contract';
import { count, dateAndTime } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';

export function IgnoredFields({ ignored }: { ignored: IgnoredField[] }) {
  if (ignored.length === 0) return null;
  return (
    <section class="card stack gap-16" aria-labelledby="ignored-title">
      <div class="stack gap-6">
        <h2 id="ignored-title">Fields left out</h2>
        <p class="hint">
          Records and displays of the last 30 days were counted without these fields, because they broke a rule. Values
          are never kept.
        </p>
      </div>
      <ul class="rows after-head anywhere" aria-labelledby="ignored-title">
        {ignored.map(({ field, why, type, length, ignoredAt }) => (
          <li key={field}>
            <code>{isolated(field)}</code>
            <p class="hint">
              It {isolated(why)}; the value was {sent(type, length)}. Last at {dateAndTime(ignoredAt)} UTC
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** `a string of 5,000 characters` */
function sent(type: string, length: number | null): string {
  if (length === null) return `a ${type}`;
  const unit = type === 'string' ? 'character' : type === 'list' ? 'item' : 'entry';
  const many = unit === 'entry' ? 'entries' : `${unit}s`;
  return `a ${type} of ${count(length)} ${length === 1 ? unit : many}`;
}
