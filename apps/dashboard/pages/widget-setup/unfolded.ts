/** Which parts of the form are unfolded, for as long as the tab lives: a reload leaves them as they were. */
import { withStorage } from '../../data/storage.ts';

const keyOf = (title: string): string => `assent-widget-unfolded ${title}`;

/** Undefined where the part was never touched. */
export function wasUnfolded(title: string): boolean | undefined {
  const kept = withStorage((storage) => storage.getItem(keyOf(title)));
  return kept ? kept === 'yes' : undefined;
}

export function keepUnfolded(title: string, isOpen: boolean): void {
  withStorage((storage) => storage.setItem(keyOf(title), isOpen ? 'yes' : 'no'));
}
