import { counted } from '../format.ts';

/** Of a domain without decisions for so many days; 0: nothing. */
export const SilentTag = ({ days }: { days: number }) =>
  days > 0 && <span class="tag tag-warn">silent for {counted(days, 'day')}</span>;
