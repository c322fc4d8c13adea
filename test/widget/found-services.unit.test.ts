import { expect, it } from 'vitest';
import { unassignedName, withFound } from '#libs/widget/found-services';

const host = (owner: string, kind: string) => ({ host: `${owner}.example`, requests: 1, known: { owner, kind } });
const steps = [
  {
    hosts: [host('Criteo', 'ad'), host('Hotjar', 'analytics'), { host: 'x.example', requests: 1, known: null }],
    cookies: [
      { name: '_ga', category: 'analytics' },
      { name: 'sid', category: null },
    ],
  },
  { hosts: [host('Criteo', 'ad'), host('Stripe', 'utility')], cookies: [{ name: 'two words', category: null }] },
];

it('known hosts become services of their usual category, and cookies in no list one service to sort out', () => {
  expect(withFound({ company: 'Shop' }, steps)).toEqual({
    added: 4,
    config: {
      company: 'Shop',
      categories: [
        { id: 'necessary', services: [{ name: 'Stripe' }] },
        { id: 'analytics', services: [{ name: 'Hotjar' }] },
        { id: 'marketing', services: [{ name: 'Criteo' }, { name: unassignedName, cookies: [{ name: 'sid' }] }] },
      ],
    },
  });
});

it('what is listed already stays as it is, also when it is taken over twice', () => {
  const once = withFound({ categories: [{ id: 'ads', label: 'Ads', services: [{ name: 'Criteo SA' }] }] }, steps);
  expect(once.config.categories).toEqual([
    { id: 'necessary', services: [{ name: 'Stripe' }] },
    {
      id: 'ads',
      label: 'Ads',
      services: [{ name: 'Criteo SA' }, { name: 'Hotjar' }, { name: unassignedName, cookies: [{ name: 'sid' }] }],
    },
  ]);
  expect(withFound(once.config, steps)).toEqual({ added: 0, config: once.config });
});
