import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click } from '../support/browser/browser.ts';
import { managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { at } from '../support/stack.ts';

const dashboard = useDashboard();

describe('rules for places, in the dashboard', () => {
  const preview = (page: Page) => page.frameLocator('iframe');
  const from = (page: Page, place: string) => page.getByRole('combobox', { name: 'Visitor from' }).selectOption(place);
  const rule = (page: Page, number: number) => page.getByRole('group', { name: `Rule ${number}`, exact: true });

  it('begin with presets, are seen as a visitor of each place sees them, and are published', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const address = `/domains/${domainId}/banner/publish`;
    await dashboard.manage(customer, address, { method: 'POST', body: '{}' });
    const { page, messages } = await dashboard.open(managerOf(customer), `/domains/${domainId}/widget`);
    await page.getByRole('heading', { name: 'Regions' }).click();
    await preview(page).getByRole('dialog').waitFor();
    await click(page, 'All of them');
    await rule(page, 5).getByText('California, Virginia, Colorado,').waitFor();
    await page.getByText(/^Safari forgets/).waitFor();

    await from(page, 'California');
    await preview(page).getByText('You can opt out of those that are not necessary').waitFor();
    await page.getByRole('checkbox', { name: 'Global Privacy Control' }).check();
    await preview(page).getByRole('status').getByText('Opt-out request honored').waitFor();
    await from(page, 'Quebec');
    await preview(page).getByRole('dialog', { name: 'Your privacy, your choice' }).waitFor();

    // France before the rule of the EEA
    await click(page, 'Add rule');
    const france = rule(page, 6);
    await france.getByRole('textbox', { name: 'Where' }).fill('fr');
    await france.getByText('France').waitFor();
    await france.getByRole('spinbutton', { name: 'Months until visitors are asked again' }).fill('6');
    for (const number of [6, 5, 4, 3, 2]) await click(page, `Move up rule ${number}`);
    expect(await rule(page, 1).getByRole('textbox', { name: 'Where' }).inputValue()).toBe('FR');
    await rule(page, 3).getByRole('checkbox', { name: 'analytics' }).check();
    await click(page, 'Remove rule 7');
    await page.getByRole('button', { name: 'Everywhere else' }).waitFor();
    expect(await violations(page)).toEqual([]);

    await click(page, 'Publish…');
    const dialog = page.getByRole('dialog');
    const changes = dialog.getByRole('listitem').filter({ hasText: 'for places' });
    await changes.getByText('FR; Visitors are asked first; 6 months').waitFor();
    await changes.getByText('GB; Visitors are asked first; on: analytics').waitFor();
    await click(page, 'Publish');
    await dialog.getByText('Version 2 is live').waitFor();
    const script = await (await fetch(`${dashboard.api.baseUrl}/w/${domainId}.js`)).text();
    expect(script).toContain('{"in":["GB"],"model":"opt_in","on":["analytics"]}');
    expect(messages).toEqual([]);
  });
});
