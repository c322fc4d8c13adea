/** Who may record, a line each. */
import { escapeInvisible } from '../../format.ts';

export const Origins = ({ origins }: { origins: string[] }) =>
  origins.length === 0 ? (
    <span>any origin</span>
  ) : (
    <span class="settings-origins">
      {origins.map((origin) => (
        <bdi key={origin}>{escapeInvisible(origin)}</bdi>
      ))}
    </span>
  );
