/** The used part of the plan's monthly limit. Recording never stops at the limit; only the log is shortened. */
import type { Organization } from '#libs/stats/contract';
import './usage-figure.css';
import { addMonths, firstDay } from '#libs/base/terms/calendar';
import { count, dayName, monthName, share } from '../format.ts';
import { Figure } from './figure.tsx';

export function UsageFigure({ plan, usage }: Pick<Organization, 'plan' | 'usage'>) {
  const { used, limit, month } = usage;
  const name = `Usage in ${monthName(month)}`;
  if (limit === null)
    return <Figure name={name} value={count(used)} note={`records. The plan “${plan.name}” has no monthly limit.`} />;
  const isReached = used >= limit;
  return (
    <Figure
      name={name}
      value={count(used)}
      note={`of ${count(limit)} records in the plan “${plan.name}”${limit > 0 ? ` (${share(used / limit)})` : ''}`}
    >
      <meter
        class={isReached ? 'usage usage-full' : 'usage'}
        min={0}
        max={Math.max(limit, 1)}
        value={Math.min(used, limit)}
        aria-label={name}
      />
      {isReached && (
        <p class="hint figure-note">
          {plan.consentLog
            ? `Limit reached: until ${dayName(firstDay(addMonths(month, 1)))} (UTC) the log shows only its newest 10 records. Recording continues.`
            : 'Limit reached. Recording continues.'}
        </p>
      )}
    </Figure>
  );
}
