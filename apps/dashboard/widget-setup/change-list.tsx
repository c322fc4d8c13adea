/** The differences between two banners. */
import { count } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import type { Change } from './draft/changes.ts';

interface Props {
  changes: Change[];
  /** names of the two banners */
  before: string;
  after: string;
}

/** the number of changes shown */
const most = 60;

export const ChangeList = ({ changes, before, after }: Props) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
  <section class="widget-changes" aria-label="What differs" tabIndex={0}>
    <ul class="rows">
      {changes.slice(0, most).map((change) => (
        <li key={change.name}>
          <p class="strong">{isolated(change.name)}</p>
          <Side name={before} value={change.before} />
          <Side name={after} value={change.after} />
        </li>
      ))}
      {changes.length > most && <li class="muted">and {count(changes.length - most)} more</li>}
    </ul>
  </section>
);

const Side = ({ name, value }: { name: string; value: string | null }) => (
  <p class="widget-side">
    <span class="muted">{name}</span> {value === null ? <em class="muted">not set</em> : isolated(value)}
  </p>
);
