import { counted } from '../format.ts';

/** Marks a domain that has had no decisions for this many days; 0 shows nothing. */
export const SilentTag = ({ days }: { days: number }) =>
  days > 0 && <span class="tag tag-warn">silent for {counted(days, 'day')}</span>;
