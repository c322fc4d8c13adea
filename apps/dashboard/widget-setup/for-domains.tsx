/** Copies the draft of one domain into the drafts of others, which are published separately. */
import { useState } from 'preact/hooks';
import type { Api } from '../data/api.ts';
import { textOf } from '../data/api-error.ts';
import { useAttempt } from '../data/attempt.ts';
import { activeFirst } from '../data/domains.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { count, counted } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Check } from '../parts/check.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { DomainChecks } from '../parts/domain-checks.tsx';
import { Failure } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { bannerOf } from './banner-api.ts';
import { isSameBanner } from './draft/changes.ts';
import { keepOwn, type WidgetDraft } from './draft/draft.ts';

interface Props {
  domainId: string;
  draft: WidgetDraft;
  onClose(): void;
}

/** The outcome. `failed`: reasons by domain id. */
interface Result {
  saved: number;
  same: number;
  failed: Map<string, string>;
}

export function ForDomains({ domainId, draft, onClose }: Props) {
  const { api, organization } = useSignedIn();
  const others = activeFirst(organization.domains).filter((each) => each.domainId !== domainId && !each.archivedAt);
  const [chosen, setChosen] = useState<string[]>([]);
  const [keepsOwn, setKeepsOwn] = useState(true);
  const [done, setDone] = useState(0);
  const [result, setResult] = useState<Result | null>(null);
  const { isBusy, failure, attempt } = useAttempt();
  const putAll = async () => {
    const result: Result = { saved: 0, same: 0, failed: new Map() };
    setResult(null);
    for (const [index, each] of chosen.entries()) {
      setDone(index);
      try {
        result[await put(api, each, draft, keepsOwn)]++;
      } catch (error) {
        result.failed.set(each, textOf(error));
      }
    }
    setResult(result);
    // the remaining domains can be tried again
    setChosen([...result.failed.keys()]);
  };
  const nameOf = (id: string) => organization.domains.find((each) => each.domainId === id)?.name ?? id;
  return (
    <Dialog title="Use this draft for other domains" isBusy={isBusy} onClose={onClose}>
      <form
        class="form full"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen.length > 0) attempt(putAll);
        }}
      >
        <p>
          It replaces the drafts of the domains you choose, including unpublished changes there. Nothing is published:
          what visitors see stays the same until you publish each of them.
        </p>
        <DomainChecks domains={others} chosen={chosen} disabled={isBusy} onChange={setChosen} />
        <Check checked={keepsOwn} disabled={isBusy} onChange={setKeepsOwn}>
          Each keeps its own company, policy link and version, further links and cookie domain
        </Check>
        <Failure>{failure}</Failure>
        <div role="status">
          {isBusy && (
            <p>
              Saving {count(done + 1)} of {count(chosen.length)} …
            </p>
          )}
          {result && (
            <>
              <p>
                {counted(result.saved, 'draft')} saved
                {result.same > 0 && `, ${count(result.same)} had these settings already`}
                {result.failed.size > 0 && `, ${count(result.failed.size)} not saved:`}
              </p>
              <ul class="points">
                {[...result.failed].map(([id, why]) => (
                  <li key={id}>
                    {isolated(nameOf(id))}: {why}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
        <div class="actions">
          <Button text={result ? 'Close' : 'Cancel'} disabled={isBusy} onClick={onClose} />
          <Button text="Replace their drafts" type="submit" kind="primary" disabled={isBusy || chosen.length === 0} />
        </div>
      </form>
    </Dialog>
  );
}

async function put(api: Api, domainId: string, draft: WidgetDraft, keepsOwn: boolean): Promise<'saved' | 'same'> {
  const banner = bannerOf(api, domainId);
  const { draft: theirs, tag } = await banner.draft();
  const next = keepsOwn ? keepOwn(draft, theirs) : draft;
  if (isSameBanner(next, theirs)) return 'same';
  await banner.save(next, tag);
  return 'saved';
}
