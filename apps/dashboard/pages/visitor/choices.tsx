/** What was allowed and refused of each category. */
import type { FullRecord } from '#libs/contract/record';
import { escapeInvisible } from '../../format.ts';

export function Choices({ preferences }: { preferences: FullRecord['preferences'] }) {
  const choices = Object.entries(preferences ?? {});
  if (choices.length === 0) return <span class="muted">none</span>;
  return (
    <ul class="choices">
      {choices.map(([name, isOn]) => (
        <li key={name}>
          <bdi>{escapeInvisible(name)}</bdi>: {isOn ? 'allowed' : 'refused'}
        </li>
      ))}
    </ul>
  );
}
