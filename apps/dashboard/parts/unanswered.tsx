import type { Reading } from '../data/query.ts';
import { ErrorCard } from './error-card.tsx';
import { Skeleton } from './skeleton.tsx';

interface Props {
  reading: Pick<Reading<unknown>, 'value' | 'error' | 'isSlow' | 'retry'>;
  /** what the answer looks like */
  kind: 'page' | 'table';
}

/** Stands where an answer will be: its shape, or why there is none. Nothing once it is there. */
export function Unanswered({ reading: { value, error, isSlow, retry }, kind }: Props) {
  if (error) return <ErrorCard error={error} retry={retry} />;
  return value === undefined ? <Skeleton kind={kind} isSlow={isSlow} /> : null;
}
