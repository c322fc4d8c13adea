/** What a screen reader is told, as text: to be read by whoever changes it. */
import { describe, expect, it } from 'vitest';
import { config } from '../support/browser/site.ts';
import { treeOf } from '../support/browser/tree.ts';
import { useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';

describe('the widget as a screen reader has it', () => {
  const widget = useWidget(useStack);
  const matomo = {
    name: 'Matomo',
    provider: 'InnoCraft',
    country: 'NZ',
    purpose: 'Counts visits',
    cookies: [{ name: '_pk_id*', duration: '13 months' }],
  };
  const settings = { company: 'Fern & Kiln', categories: [{ id: 'analytics', services: [matomo] }, 'marketing'] };
  const film = '<iframe data-assent="marketing" data-src="/film" title="Film" width="320" height="260"></iframe>';

  it('makes sense: the banner and a placeholder, the settings with their services, the receipt in German', async () => {
    const { page } = await widget.visit();
    const session = await page.context().newCDPSession(page);
    await page.goto(widget.add('/', config(settings) + widget.tag(), film));
    await page.getByRole('group', { name: 'Film' }).waitFor();
    const told = async () => `\n${(await treeOf(session)).join('\n')}\n`;
    expect(await told()).toBe(`
RootWebArea "A page" focused=true
  main
    group "Film"
      strong
        StaticText "Film"
      paragraph
        StaticText "Allow Marketing to see this content."
      button "Show once"
      button "Always allow Marketing"
  dialog "Your privacy, your choice" (${intro}) focused=true
    heading "Your privacy, your choice" level=2
    paragraph
      StaticText "${intro}"
    paragraph
      StaticText "Fern & Kiln asks for your consent for: Statistics · Marketing"
    button "Accept all"
    button "Reject all"
    button "Customise"
  status
`);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.getByText('Services of Statistics (1)').click();
    await page.getByText('Counts visits').waitFor();
    expect(await told()).toBe(`
RootWebArea "A page" focused=true
  dialog "Privacy settings" (${intro}) modal=true
    heading "Privacy settings" level=2
    button "Close"
      image
    paragraph
      StaticText "${intro}"
    list
      listitem
        strong
          StaticText "Necessary"
        paragraph
          StaticText "Needed for this site to work."
        StaticText "Always on"
      listitem
        paragraph
          StaticText "Shows us which pages are visited."
        switch "Statistics" (Shows us which pages are visited.)
        group
          DisclosureTriangle "Services of Statistics (1)" focused=true expanded=true
          strong
            StaticText "Matomo"
          paragraph
            StaticText "Counts visits"
          paragraph
            StaticText "Provider: "
            StaticText "InnoCraft"
            StaticText " (New Zealand)"
          table
            row
              columnheader "Cookies"
              columnheader "Storage period"
            row
              cell "_pk_id*"
              cell "13 months"
      listitem
        paragraph
          StaticText "Advertising based on your interests."
        switch "Marketing" (Advertising based on your interests.)
    button "Accept all"
    button "Reject all"
    button "Save choice"
`);
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await page.getByRole('button', { name: 'Save choice' }).click();
    const [record] = await widget.records(1);
    const date = new Intl.DateTimeFormat('de', { dateStyle: 'long' }).format(new Date(record?.decidedAt ?? ''));
    await page.evaluate(() => window.assent?.setLanguage('de'));
    await page.getByRole('button', { name: 'Datenschutzeinstellungen' }).click();
    await page.getByRole('button', { name: 'Kopieren' }).waitFor();
    const receipt = await told();
    expect(receipt).toContain(`
    strong
      StaticText "Ihre letzte Entscheidung"
    paragraph
      StaticText "Sie haben am ${date} erlaubt: Statistik
Nicht erlaubt: Marketing"
    StaticText "ID "
    StaticText "${record?.id}"
    button "Kopieren"
    group
      DisclosureTriangle "Was Ihnen gezeigt wurde"
    button "Alle akzeptieren"
    button "Einwilligung widerrufen"
    button "Auswahl speichern"
`);
  });
});

const intro =
  'This site uses cookies and similar technologies. Some are necessary, others need your consent. You can change your mind at any time.';
