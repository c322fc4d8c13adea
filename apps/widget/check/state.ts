/** A check under way: what this tab keeps of it from page to page. */
import { type CheckStep, checkSteps } from '#libs/widget/site-check';
import { stateKey } from './is-checking.ts';

export type StepName = CheckStep['step'];
/** A list and no object, since a name may be `__proto__`. */
type Counts = [name: string, count: number][];

export interface Notes extends Omit<CheckStep, 'step' | 'hosts' | 'moreHosts' | 'cookies' | 'moreNames'> {
  hosts: Counts;
  cookies: string[];
}

export interface State {
  ticket: string;
  /** Unix milliseconds: decisions made since are not recorded */
  startedAt: number;
  /** `asking`: the second visitor has not accepted yet, and nothing is noted */
  now: StepName | 'asking';
  notes: Record<StepName, Notes>;
  /** the person's own choice as it is stored, and what they saw then; JSON */
  own: string | null;
  seen: string | null;
}

export const noNotes = (): Notes => ({
  pages: 0,
  allowed: [],
  grants: [],
  hosts: [],
  cookies: [],
  storage: [],
  ran: [],
  held: 0,
  google: [],
  commands: [],
  hasContainer: false,
  bannerMs: null,
  failed: [],
  isIncomplete: false,
  hasWorker: false,
});

export const newState = (given: Pick<State, 'ticket' | 'own' | 'seen'>): State => ({
  ...given,
  startedAt: Date.now(),
  now: 'before',
  notes: { before: noNotes(), rejected: noNotes(), accepted: noNotes() },
});

export function readState(): State | undefined {
  try {
    const state: State = JSON.parse(sessionStorage.getItem(stateKey) ?? '');
    return checkSteps.every((step) => state.notes[step]) ? state : undefined;
  } catch {
    return undefined;
  }
}

/** A site's own storage may be full. */
export function keep(state: State): void {
  try {
    sessionStorage.setItem(stateKey, JSON.stringify(state));
  } catch {
    // this page's notes are in memory
  }
}

export const forgetState = (): void => sessionStorage.removeItem(stateKey);
