import type { Reading } from '../data/query.ts';
import { ErrorCard } from './error-card.tsx';
import { Skeleton } from './skeleton.tsx';

interface Props {
  reading: Pick<Reading<unknown>, 'value' | 'error' | 'isSlow' | 'retry'>;
  /** shape of the placeholder */
  kind: 'page' | 'table';
}

/** Shown until a value has been read: a placeholder, or the error. Empty once there is a value. */
export function LoadingOrError({ reading: { value, error, isSlow, retry }, kind }: Props) {
  if (error) return <ErrorCard error={error} retry={retry} />;
  return value === undefined ? <Skeleton kind={kind} isSlow={isSlow} /> : null;
}
