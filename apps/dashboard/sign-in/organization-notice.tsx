/** The session is in another organization than this tab's last one, and why. */
import { isolated } from '../parts/isolated.tsx';
import type { OrganizationChange } from './session.ts';

export function OrganizationNotice({ name, change }: { name: string; change: OrganizationChange | undefined }) {
  if (!change)
    return <span>You are now signed in to {isolated(name)}, and no longer to the previous organization.</span>;
  if ('left' in change)
    return (
      <span>
        You no longer belong to {isolated(change.left)}. You are now signed in to {isolated(name)}.
      </span>
    );
  return (
    <span>
      {isolated(name)} is added to your account. Switch between your organizations in the menu with your name.
    </span>
  );
}
