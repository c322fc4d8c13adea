/** The title of printed statistics, which omit the page's head with its menus. */
import { domainIn } from '../data/domains.ts';
import type { Period } from '../data/periods.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dayRange } from '../format.ts';
import { isolated } from './isolated.tsx';

interface Props extends Period {
  what: string;
  domainId: string;
}

export function PaperTitle({ what, domainId, from, to }: Props) {
  const { organization } = useSignedIn();
  return (
    <p class="paper-title" hidden>
      {what} of {isolated(domainIn(organization, domainId).name)}, {dayRange(from, to)} (UTC)
    </p>
  );
}
