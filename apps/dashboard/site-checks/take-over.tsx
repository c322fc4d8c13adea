/** Adds the services and cookies that a check found to the banner's draft. */
import { useState } from 'preact/hooks';
import type { ShownCheck } from '#libs/banner/contract';
import { withFound } from '#libs/widget/found-services';
import { useAttempt } from '../data/attempt.ts';
import { domainIn } from '../data/domains.ts';
import { widgetAddress } from '../data/router.ts';
import { mayPublish } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { checksOf } from '../data/site-checks.ts';
import { counted } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Failure } from '../parts/field.tsx';

export function TakeOver({ domainId, check }: { domainId: string; check: ShownCheck }) {
  const { api, organization } = useSignedIn();
  const [added, setAdded] = useState<number | null>(null);
  const { failure, attempt, isBusy } = useAttempt();
  const isUsed = domainIn(organization, domainId).archivedAt === undefined;
  if (!mayPublish(organization) || !isUsed || withFound({}, check.result.steps).added === 0) return null;
  const draft = <a href={widgetAddress(domainId)}>draft of the banner</a>;
  return (
    <div class="stack gap-6">
      {added === null ? (
        <div class="actions">
          <Button
            text="Add what was found to the draft"
            disabled={isBusy}
            onClick={() => attempt(async () => setAdded(await checksOf(api, domainId).takeOver(check)))}
          />
        </div>
      ) : (
        <p class="notice" role="status">
          {added === 0
            ? 'The draft lists them already.'
            : `Added ${counted(added, 'service or cookie', 'services and cookies')}. Move each to its category before you publish.`}{' '}
          See the {draft}.
        </p>
      )}
      <p class="hint">Owners of known hosts become services, and cookies in no list are put below one service.</p>
      <Failure>{failure}</Failure>
    </div>
  );
}
