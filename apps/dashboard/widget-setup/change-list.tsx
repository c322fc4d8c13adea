/** What differs between two banners, for people. */
import { count } from '../format.ts';
import { isolated } from '../parts/isolated.tsx';
import type { Change } from './draft/changes.ts';

interface Props {
  changes: Change[];
  /** what the two are called */
  before: string;
  after: string;
}

/** So many are read. */
const most = 60;

export const ChangeList = ({ changes, before, after }: Props) => (
  <ul class="rows" aria-label="What differs">
    {changes.slice(0, most).map((change) => (
      <li key={change.name}>
        <p class="strong">{isolated(change.name)}</p>
        <Side name={before} value={change.before} />
        <Side name={after} value={change.after} />
      </li>
    ))}
    {changes.length > most && <li class="muted">and {count(changes.length - most)} more</li>}
  </ul>
);

const Side = ({ name, value }: { name: string; value: string | null }) => (
  <p class="widget-side">
    <span class="muted">{name}</span> {value === null ? <em class="muted">not set</em> : isolated(value)}
  </p>
);
