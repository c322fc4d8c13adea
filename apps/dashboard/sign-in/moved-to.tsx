/** Says that the session is in another organization than this tab's last one, and why. */
import { isolated } from '../parts/isolated.tsx';
import type { Moved } from './session.ts';

export function MovedTo({ name, moved }: { name: string; moved: Moved | undefined }) {
  if (!moved)
    return <span>You are now signed in to {isolated(name)}, and no longer to the previous organization.</span>;
  if ('left' in moved)
    return (
      <span>
        You no longer belong to {isolated(moved.left)}. You are now signed in to {isolated(name)}.
      </span>
    );
  return (
    <span>
      {isolated(name)} is added to your account. Switch between your organizations in the menu with your name.
    </span>
  );
}
