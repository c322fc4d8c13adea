/** What links open for somebody who has no account yet: the first set-up, and an invitation. */
export { Invitation } from './invitation.tsx';
export { Setup } from './setup.tsx';
