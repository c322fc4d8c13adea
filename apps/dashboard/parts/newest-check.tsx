/** The result of the newest site check, beside the title. */
import { findingsOf } from '#libs/widget/site-check';
import { useReading } from '../data/query.ts';
import { checksAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { checksOf } from '../data/site-checks.ts';
import { counted, dateOf } from '../format.ts';

export function NewestCheck({ domainId }: { domainId: string }) {
  const { api } = useSignedIn();
  const { value } = useReading(`check ${domainId}`, (signal) => checksOf(api, domainId).newest(signal));
  if (!value) return null;
  const faults = findingsOf(value.result.steps).filter(({ level }) => level === 'fault').length;
  return (
    <a class={faults > 0 ? 'tag tag-warn' : 'tag'} href={checksAddress(domainId)}>
      Checked {dateOf(value.checkedAt)}: {faults === 0 ? 'no faults' : counted(faults, 'fault')}
    </a>
  );
}
