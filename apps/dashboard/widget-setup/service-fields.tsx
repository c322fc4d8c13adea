/** The services of one category: recipients, purposes and cookies. */
import { useEffect, useId, useState } from 'preact/hooks';
import type { Service } from '#libs/widget/config';
import { Button } from '../parts/button.tsx';
import { cookieLines, readCookieLines } from './draft/services.ts';
import { TextInput } from './group.tsx';

interface Props {
  /** the category's services */
  name: string;
  services: Service[];
  onChange(services: Service[]): void;
}

const fields = {
  name: 'Name',
  provider: 'Provider',
  country: 'Country of the provider',
  purpose: 'What it is for',
  policyUrl: 'Address of its privacy policy',
} as const;

export function Services({ name, services, onChange }: Props) {
  const put = (at: number, service: Service) =>
    onChange(services.map((each, index) => (index === at ? service : each)));
  return (
    <details class="explain" open={services.length > 0}>
      <summary>
        Services of {name}
        {services.length > 0 && ` (${services.length})`}
      </summary>
      <div class="stack gap-14 widget-fields">
        {services.map((service, at) => (
          <fieldset key={at} class="widget-category">
            <legend>Service {at + 1}</legend>
            {Object.entries(fields).map(([field, label]) => (
              <TextInput
                key={field}
                label={label}
                maxLength={500}
                autocomplete="off"
                placeholder={field === 'country' ? 'IE' : undefined}
                value={service[field as keyof typeof fields] ?? ''}
                onText={(text) => put(at, { ...service, [field]: text })}
              />
            ))}
            <Cookies service={service} onChange={(changed) => put(at, changed)} />
            <div>
              <Button onClick={() => onChange(services.filter((_, index) => index !== at))}>
                Remove
                <span class="hidden">
                  {' '}
                  service {at + 1} of {name}
                </span>
              </Button>
            </div>
          </fieldset>
        ))}
        <div>
          <Button onClick={() => onChange([...services, { name: '' }])}>
            Add service<span class="hidden"> to {name}</span>
          </Button>
        </div>
      </div>
    </details>
  );
}

function Cookies({ service, onChange }: { service: Service; onChange(service: Service): void }) {
  const [text, setText] = useState(() => cookieLines(service.cookies));
  const id = useId();
  const { refused } = readCookieLines(text);
  // another service was opened
  const lines = cookieLines(service.cookies);
  useEffect(() => setText((typed) => (cookieLines(readCookieLines(typed).cookies) === lines ? typed : lines)), [lines]);
  return (
    <div class="stack gap-4">
      <label>
        Its cookies, one a line: name; how long; domain; path
        <textarea
          rows={3}
          spellcheck={false}
          placeholder={'_ga*; 2 years; example.com'}
          aria-invalid={refused.length > 0}
          aria-describedby={refused.length > 0 ? id : undefined}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            const { cookies: _, ...others } = service;
            const { cookies } = readCookieLines(currentTarget.value);
            onChange({ ...others, ...(cookies.length > 0 && { cookies }) });
          }}
        />
      </label>
      {refused.length > 0 && (
        <p class="field-note" id={id}>
          Not the name of a cookie: {refused.join(', ')}
        </p>
      )}
    </div>
  );
}
