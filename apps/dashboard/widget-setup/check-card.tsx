/** Starts a check of the site: a link with a ticket, which leads through it on the site itself. */
import { useState } from 'preact/hooks';
import { isAllowed } from '#libs/base/terms/origin';
import { AssentError } from '#libs/client/assent-error';
import { copyText } from '../clipboard.ts';
import { useAttempt } from '../data/attempt.ts';
import { base, demoDomain } from '../data/base.ts';
import { useLive } from '../data/query.ts';
import { checksAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { now } from '../data/service-clock.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { checksOf } from '../data/site-checks.ts';
import { originFrom } from '../data/typed-origin.ts';
import { hourAndMinute } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Failure } from '../parts/field.tsx';
import { isolated } from '../parts/isolated.tsx';
import { TextInput } from './group.tsx';

/** Without the fragment. Undefined for what is no address of a website. */
function addressOf(text: string): string | undefined {
  const origin = originFrom(text);
  if (!origin || !/^https?:[^*]+$/.test(origin)) return undefined;
  const { pathname, search } = new URL(text.includes('://') ? text : `${origin}${text.replace(/^[^/?#]+/, '')}`);
  return origin + pathname + search;
}

/** Milliseconds between two looks for the result. */
const pace = 3_000;

interface Link {
  site: string;
  url: string;
  expiresAt: string;
  /** the newest check before it; undefined for none */
  before: string | undefined;
}

interface Props {
  domainId: string;
  name: string;
  /** with the id of a check that has just been stored */
  onChecked(checkId: string): void;
}

export function CheckCard({ domainId, name, onChecked }: Props) {
  const { api, organization } = useSignedIn();
  const checks = checksOf(api, domainId);
  const newest = async (signal?: AbortSignal) => (await checks.list({ limit: 1 }, signal))[0]?.checkId;
  // most domains have the name of their site
  const [address, setAddress] = useState(() =>
    domainId === demoDomain ? `${location.origin}${base}/demo` : (addressOf(name) ?? ''),
  );
  const [link, setLink] = useState<Link | null>(null);
  const [checked, setChecked] = useState('');
  const [isCopied, setCopied] = useState(false);
  const { failure, attempt, isBusy } = useAttempt();
  const site = addressOf(address);
  const prepare = (at: string) =>
    attempt(async () => {
      const { origin } = new URL(at);
      const { origins } = mayManage(organization) ? (await api.manage.domain(domainId)).body : { origins: [] };
      if (!isAllowed(origins, origin))
        throw new AssentError('origin', `The tag cannot work on ${origin}: add that origin in the settings first.`);
      const [before, { ticket, expiresAt }] = await Promise.all([newest(), checks.ticket()]);
      setCopied(false);
      setChecked('');
      setLink({ site: at, url: `${at}#assent-check=${ticket}`, expiresAt, before });
    });
  useLive(link?.url ?? null, {
    ask: newest,
    onAnswer: (checkId) => {
      const isNew = checkId !== undefined && checkId !== link?.before;
      if (isNew) {
        setChecked(checkId);
        onChecked(checkId);
      }
      if (isNew || now() > Date.parse(link?.expiresAt ?? '')) setLink(null);
    },
    interval: pace,
  });
  return (
    <section class="card message widget-check" aria-labelledby="check-title">
      <h2 id="check-title">Check my site</h2>
      <p>
        See what your site does before a visitor chooses, after “Reject all” and after “Accept all”. It takes some
        minutes in your own browser, on the site itself. <a href={checksAddress(domainId)}>Earlier checks</a>
      </p>
      <TextInput
        label="Address of the site"
        autocomplete="off"
        placeholder="https://www.example.com"
        value={address}
        error={address !== '' && !site ? 'Not the address of a website.' : ''}
        onText={(text) => {
          setAddress(text);
          setLink(null);
        }}
      />
      {link && (
        <>
          <p>
            The link opens <strong>{isolated(link.site)}</strong>. Copy it and open it in a private window: there the
            check deletes nothing that you need. Switch off extensions that block ads or trackers. The link is for one
            check, until {hourAndMinute(link.expiresAt)} UTC.
          </p>
          <p class="hint">
            You see no box there? The tag is not on that page, or the page was opened without the link. The result
            appears here once the check is finished.
          </p>
        </>
      )}
      <div class="actions">
        {link && (
          <>
            <Button
              kind="primary"
              text={isCopied ? 'Copied' : 'Copy link for a private window'}
              onClick={() => void copyText(link.url).then(setCopied)}
            />
            <a class="button" href={link.url} target="_blank" rel="noopener noreferrer">
              Open in a new tab of this browser
            </a>
          </>
        )}
        <Button
          text={link ? 'Make a new link' : 'Check my site'}
          kind={link ? 'quiet' : 'primary'}
          disabled={!site || isBusy}
          onClick={() => site && prepare(site)}
        />
      </div>
      <div role="status">
        {checked && (
          <p class="notice">
            The check is finished. <a href={checksAddress(domainId, { check: checked })}>See what it found</a>
          </p>
        )}
      </div>
      <Failure>{failure}</Failure>
    </section>
  );
}
