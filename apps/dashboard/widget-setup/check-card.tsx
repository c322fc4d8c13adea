/** The way to a check of the site: a link with a ticket, which leads through it on the site itself. */
import { useState } from 'preact/hooks';
import { copyText } from '../clipboard.ts';
import { useAttempt } from '../data/attempt.ts';
import { checksAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { checksOf } from '../data/site-checks.ts';
import { minuteOfDay } from '../format.ts';
import { Button } from '../parts/button.tsx';
import { Failure } from '../parts/field.tsx';
import { TextInput } from './group.tsx';

/** Undefined for what is no address of a website. */
function addressOf(text: string): URL | undefined {
  try {
    const url = new URL(text.includes('://') ? text : `https://${text}`);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

export function CheckCard({ domainId, name }: { domainId: string; name: string }) {
  const checks = checksOf(useSignedIn().api, domainId);
  // most domains have the name of their site
  const [address, setAddress] = useState(/^[\w-]+(\.[\w-]+)+$/.test(name) ? `https://${name}` : '');
  const [link, setLink] = useState<{ url: string; expiresAt: string } | null>(null);
  const [isCopied, setCopied] = useState(false);
  const { failure, attempt, isBusy } = useAttempt();
  const site = addressOf(address);
  const prepare = () =>
    attempt(async () => {
      if (!site) throw new Error('no address');
      const { ticket, expiresAt } = await checks.ticket();
      setCopied(false);
      setLink({ url: `${site.origin}${site.pathname}${site.search}#assent-check=${ticket}`, expiresAt });
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
      {link ? (
        <>
          <p>
            Copy the link and open it in a private window: there the check deletes nothing that you need. Switch off
            extensions that block ads or trackers. The link is for one check, until {minuteOfDay(link.expiresAt)} UTC.
          </p>
          <div class="actions">
            <Button
              kind="primary"
              text={isCopied ? 'Copied' : 'Copy link for a private window'}
              onClick={() => void copyText(link.url).then(setCopied)}
            />
            <a class="button" href={link.url} target="_blank" rel="noopener noreferrer">
              Open in a new tab of this browser
            </a>
          </div>
        </>
      ) : (
        <div class="actions">
          <Button text="Check my site" kind="primary" disabled={!site || isBusy} onClick={prepare} />
        </div>
      )}
      <Failure>{failure}</Failure>
    </section>
  );
}
