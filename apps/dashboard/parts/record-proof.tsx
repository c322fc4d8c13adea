/** A record's position in the sealed log, and its proof, to download or to verify in this browser. */
import type { FullRecord } from '#libs/record/contract';
import './record-proof.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import { base } from '../data/base.ts';
import { usePosition } from '../data/sealed.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { downloadText } from '../download.ts';
import { count } from '../format.ts';
import type { Verdict } from '../proof/verify-proof.ts';
import { Button } from './button.tsx';
import { Snippet } from './snippet.tsx';
import { Term } from './term.tsx';

interface Props {
  record: FullRecord;
}

type Outcome = 'none' | 'busy' | { failure: string } | { verdict: Verdict };

/** Empty if the domain's log is not sealed. */
export function RecordProof({ record }: Props) {
  const { api } = useSignedIn();
  const place = usePosition(api, record);
  const [outcome, setOutcome] = useState<Outcome>('none');
  const status = useRef<HTMLDivElement>(null);
  // the footer would cover the content below the buttons
  useEffect(() => {
    if (typeof outcome === 'object') status.current?.scrollIntoView({ block: 'nearest' });
  }, [outcome]);
  if (place === 'unknown') return null;
  const sealed = place === 'waiting' ? null : { ...record, ...place };
  const attempt = (action: (of: FullRecord) => Promise<Outcome>) => {
    if (!sealed) return;
    setOutcome('busy');
    action(sealed).then(setOutcome, (error: unknown) => setOutcome({ failure: failureOf(error) }));
  };
  const download = async (of: FullRecord): Promise<Outcome> => {
    downloadText(`${of.id}.json`, 'application/json', await api.proof(of));
    return 'none';
  };
  const verify = async (of: FullRecord): Promise<Outcome> => {
    const [{ verifyProof }, bundle, keys] = await Promise.all([
      import('../proof/verify-proof.ts'),
      api.proof(of),
      api.verifierKeys(of),
    ]);
    return { verdict: verifyProof(bundle, keys, of) };
  };
  return (
    <section class="stack gap-10 proof" aria-label="Sealed log">
      {sealed ? (
        <p>
          <span class="strong">
            <Term of="sealed" text="Sealed" />.
          </span>{' '}
          <Term of="entry" text="Entry" /> {count(sealed.position)} of log {sealed.log}
        </p>
      ) : (
        <p class="muted">Not sealed yet: within a minute</p>
      )}
      {sealed && (
        <div class="actions">
          <Button text="Download proof" disabled={outcome === 'busy'} onClick={() => attempt(download)} />
          <Button text="Verify" disabled={outcome === 'busy'} onClick={() => attempt(verify)} />
        </div>
      )}
      <div class="stack gap-10 gone-if-empty" role="status" ref={status}>
        {typeof outcome === 'object' && <Result outcome={outcome} />}
      </div>
    </section>
  );
}

function Result({ outcome }: { outcome: Exclude<Outcome, string> }) {
  if ('failure' in outcome) return <p class="notice proof-bad">{outcome.failure}</p>;
  const { verdict } = outcome;
  if (!verdict.holds)
    return (
      <p class="notice proof-bad">
        <strong>The proof does not hold.</strong> {verdict.why}
      </p>
    );
  return (
    <>
      <p class="proof-good">
        <strong>Verified in this browser.</strong> The log, which has {count(verdict.size)} entries, contains this
        record exactly as it is shown here
        {verdict.lacksPlace && ', except for its region and model, which are not proven'}, and is signed with its key.
      </p>
      <p class="muted">
        The <Term of="verifier key" text="key" /> came from this service as well. Compare it with one that you keep
        elsewhere, or <a href={`${base}/verify`}>verify the downloaded proof</a> with your own. Endpoints and formats
        are in the <a href={`${base}/docs`}>API reference</a>.
      </p>
      {verdict.signedBy.map((key) => (
        <Snippet key={key} name="Verifier key" code={key} />
      ))}
    </>
  );
}

function failureOf(error: unknown): string {
  if (!(error instanceof AssentError))
    return 'The code that verifies could not be loaded. Reload the page and try again.';
  return `The service did not give the proof: ${error.message}`;
}
