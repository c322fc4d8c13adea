/** The key of the tag: made here or pasted, and whether it is one of this domain. */
import type { Key } from '#libs/tenants/contract';
import { useAttempt } from '../data/attempt.ts';
import { domainIn } from '../data/domains.ts';
import { isMadeHere, keepKey, keepMadeKey } from '../data/kept-keys.ts';
import { useReading } from '../data/query.ts';
import { mayManage } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { escapeInvisible } from '../format.ts';
import { assentCommand } from '../parts/assent-command.ts';
import { Button } from '../parts/button.tsx';
import { Failure, FieldNote } from '../parts/field.tsx';
import { isKey } from './draft/tag-reader.ts';

interface Props {
  domainId: string;
  apiKey: string;
  setApiKey(apiKey: string): void;
}

export function KeyField({ domainId, apiKey, setApiKey }: Props) {
  const { api, organization } = useSignedIn();
  const isManager = mayManage(organization);
  const isPasted = isManager && isKey(apiKey) && !isMadeHere(apiKey);
  const keys = useReading<Key[] | null>(isPasted ? `${domainId} ${apiKey}` : '', async (signal) =>
    isPasted ? api.manage.keys(domainId, signal) : null,
  );
  const name = escapeInvisible(domainIn(organization, domainId).name);
  const error = isPasted && keys.value && !keys.isLoading ? pastedError(apiKey, keys.value, name) : formError(apiKey);
  return (
    <>
      <div class="cluster bottom widget-key">
        <label>
          Key
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            placeholder="ak_…"
            aria-invalid={error !== undefined}
            aria-describedby="widget-key-note"
            value={apiKey}
            onInput={({ currentTarget }) => {
              const typed = currentTarget.value.trim();
              setApiKey(typed);
              keepKey(domainId, typed);
            }}
          />
        </label>
        {isManager && (
          <NewKey
            domainId={domainId}
            isFirst={apiKey === ''}
            onMade={(made) => {
              setApiKey(made);
              keepMadeKey(domainId, made);
            }}
          />
        )}
      </div>
      <FieldNote id="widget-key-note" error={error}>
        {apiKey !== '' ? (
          <>
            {isMadeHere(apiKey)
              ? 'The key is in the tag below and is not shown again once you leave: copy the tag now. '
              : 'The key is in the tag below. '}
            Everybody can read it in your pages; it only records.
          </>
        ) : isManager ? (
          'Make a new key, or paste one that you have. Without a key nothing is recorded.'
        ) : (
          <>
            Paste the key that was shown when it was made. Whoever manages this domain makes another one in its
            settings, or on the command line: <code>{assentCommand(`key create ${domainId}`)}</code>
          </>
        )}
      </FieldNote>
    </>
  );
}

const formError = (apiKey: string): string | undefined =>
  apiKey !== '' && !isKey(apiKey) ? 'A key is ak_ and 32 letters, digits, - or _.' : undefined;

function pastedError(apiKey: string, keys: Key[], name: string): string | undefined {
  const known = keys.find(({ prefix }) => apiKey.startsWith(prefix));
  if (!known) return `This is not a key of ${name}.`;
  return known.revokedAt === null ? undefined : 'This key is revoked.';
}

interface NewKeyProps {
  domainId: string;
  /** otherwise the tag has one already */
  isFirst: boolean;
  onMade(apiKey: string): void;
}

function NewKey({ domainId, isFirst, onMade }: NewKeyProps) {
  const { api } = useSignedIn();
  const { failure, attempt } = useAttempt();
  const make = async () => onMade((await api.manage.createKey(domainId)).apiKey);
  return (
    <>
      <Button text="New key" kind={isFirst ? 'primary' : undefined} onClick={() => attempt(make)} />
      <Failure>{failure}</Failure>
    </>
  );
}
