/** The template for Tag Manager. Its sandbox runs only at Google: what stands in for it here has the functions it names. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { consentTypes, eachType } from '../../apps/widget/consent-types.ts';

type Value = { string?: string; boolean?: boolean; listItem?: Value[]; mapValue?: Value[] };
interface Permission {
  instance: { key: { publicId: string }; param: { key: string; value: Value }[] };
}

const text = readFileSync(new URL('../../apps/tag-manager/template.tpl', import.meta.url), 'utf8');
const section = (name: string) => new RegExp(`___${name}___\n\n([^]*?)(?=\n\n\n___|$)`).exec(text)?.[1] ?? '';
const permissions = JSON.parse(section('WEB_PERMISSIONS')) as Permission[];
const items = (name: string) =>
  permissions.find(({ instance }) => instance.key.publicId === name)?.instance.param[0]?.value.listItem ?? [];

it('the template for Tag Manager denies what the widget grants, loads the one tag, and may do nothing else', () => {
  const states: unknown[] = [];
  const scripts: unknown[] = [];
  const api = {
    encodeUriComponent: encodeURIComponent,
    makeInteger: Number,
    setDefaultConsentState: (state: object) => states.push(state),
    injectScript: (...given: unknown[]) => scripts.push(given),
  };
  const run = new Function('require', 'data', section('SANDBOXED_JS_FOR_WEB_TEMPLATE'));
  run((name: keyof typeof api) => api[name], {
    domainId: 'dom_1',
    wait: '500',
    gtmOnSuccess: 'yes',
    gtmOnFailure: 'no',
  });

  const types: string[] = [];
  eachType(consentTypes, (type) => types.push(type));
  const denied = Object.fromEntries(types.map((type) => [type, 'denied']));
  expect(states).toEqual([{ ...denied, wait_for_update: 500 }]);
  expect(scripts).toEqual([['https://consent.example.com/w/dom_1.js', 'yes', 'no', 'assent']]);
  expect(permissions.map(({ instance }) => instance.key.publicId)).toEqual(['access_consent', 'inject_script']);
  expect(
    items('access_consent').map(({ mapValue = [] }) => mapValue.map((each) => each.string ?? each.boolean)),
  ).toEqual(types.map((type) => [type, false, true]));
  expect(items('inject_script').map((each) => each.string)).toEqual(['https://consent.example.com/w/*']);
  const [domainId] = JSON.parse(section('TEMPLATE_PARAMETERS')) as { valueValidators: { args?: string[] }[] }[];
  expect('dom_x-1').toMatch(new RegExp(domainId?.valueValidators[1]?.args?.[0] ?? 'none'));
});
