/** What the banner links to, and which versions its records name. */
import { asAddress, type Link } from './draft/draft.ts';
import { Group, type PartProps } from './group.tsx';

export function LinksAndVersions({ draft, change }: PartProps) {
  const { links = [], policyUrl = '', policyVersion = '', bannerVersion = '' } = draft;
  const put = (at: number, link: Link) => change({ links: links.map((each, index) => (index === at ? link : each)) });
  return (
    <Group title="Links and versions">
      <Address
        label="Address of your privacy policy"
        value={policyUrl}
        onInput={(value) => change({ policyUrl: value })}
      />
      {links.map((link, at) => (
        <fieldset key={at} class="widget-category">
          <legend>Link {at + 1}</legend>
          <label>
            Text
            <input
              type="text"
              value={link.label}
              onInput={({ currentTarget }) => put(at, { ...link, label: currentTarget.value })}
            />
          </label>
          <Address label="Address" value={link.href} onInput={(href) => put(at, { ...link, href })} />
          <div>
            <button
              type="button"
              class="button"
              onClick={() => change({ links: links.filter((_, index) => index !== at) })}
            >
              Remove<span class="hidden"> link {at + 1}</span>
            </button>
          </div>
        </fieldset>
      ))}
      <div>
        <button type="button" class="button" onClick={() => change({ links: [...links, { label: '', href: '' }] })}>
          Add link
        </button>
      </div>
      <label>
        Version of your policy
        <input
          type="text"
          autocomplete="off"
          placeholder="2026-11"
          aria-describedby="widget-policy-note"
          value={policyVersion}
          onInput={({ currentTarget }) => change({ policyVersion: currentTarget.value })}
        />
      </label>
      <p class="hint" id="widget-policy-note">
        Each record names it. With another version, visitors are asked again.
      </p>
      <label>
        Version of your banner
        <input
          type="text"
          autocomplete="off"
          placeholder="the release of the widget"
          value={bannerVersion}
          onInput={({ currentTarget }) => change({ bannerVersion: currentTarget.value })}
        />
      </label>
    </Group>
  );
}

function Address({ label, value, onInput }: { label: string; value: string; onInput(value: string): void }) {
  const isWrong = asAddress(value) === undefined;
  return (
    <label>
      {label}
      <input
        type="text"
        inputMode="url"
        autocomplete="off"
        spellcheck={false}
        placeholder="/privacy"
        aria-invalid={isWrong}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {isWrong && <span class="field-note">Must be the address of a page, such as /privacy or https://…</span>}
    </label>
  );
}
