/** The company, the banner's links, and the policy version in its records. */
import { Button } from '../parts/button.tsx';
import { asAddress, type Link, longestVersion } from './draft/draft.ts';
import { Group, type PartProps, TextInput } from './group.tsx';

export function LinksAndPolicy({ draft, change }: PartProps) {
  const { company = '', links = [], policyUrl = '', policyVersion = '' } = draft;
  const put = (at: number, link: Link) => change({ links: links.map((each, index) => (index === at ? link : each)) });
  return (
    <Group title="Company, links and policy">
      <TextInput
        label="Who asks"
        autocomplete="organization"
        placeholder="Example Ltd"
        aria-describedby="widget-company-note"
        value={company}
        onText={(text) => change({ company: text })}
      />
      <p class="hint" id="widget-company-note">
        The company that is responsible for the site. The banner names it before its buttons.
      </p>
      <Address
        label="Address of your privacy policy"
        value={policyUrl}
        onInput={(value) => change({ policyUrl: value })}
      />
      {links.map((link, at) => (
        <fieldset key={at} class="widget-category">
          <legend>Link {at + 1}</legend>
          <TextInput label="Text" value={link.label} onText={(label) => put(at, { ...link, label })} />
          <Address label="Address" value={link.href} onInput={(href) => put(at, { ...link, href })} />
          <div>
            <Button onClick={() => change({ links: links.filter((_, index) => index !== at) })}>
              Remove<span class="hidden"> link {at + 1}</span>
            </Button>
          </div>
        </fieldset>
      ))}
      <div>
        <Button text="Add link" onClick={() => change({ links: [...links, { label: '', href: '' }] })} />
      </div>
      <TextInput
        label="Version of your policy"
        autocomplete="off"
        placeholder="2026-11"
        aria-describedby="widget-policy-note"
        maxLength={longestVersion}
        value={policyVersion}
        onText={(text) => change({ policyVersion: text })}
      />
      <p class="hint" id="widget-policy-note">
        Each record names it. With another version, visitors are asked again.
      </p>
    </Group>
  );
}

function Address({ label, value, onInput }: { label: string; value: string; onInput(value: string): void }) {
  const isWrong = asAddress(value) === undefined;
  return (
    <TextInput
      label={label}
      inputMode="url"
      autocomplete="off"
      spellcheck={false}
      placeholder="/privacy"
      error={isWrong ? 'Must be the address of a page, such as /privacy or https://…' : ''}
      value={value}
      onText={onInput}
    />
  );
}
