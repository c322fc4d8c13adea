/** The widget on a site's pages. */
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach } from 'vitest';
import type { FullRecord } from '#libs/record/contract';
import { tokenFor } from '../client.ts';
import { recordsOf, type Stack, withOwnDomain } from '../stack.ts';
import { eventually } from '../wait.ts';
import { useBrowser, type Visit, type Visitor } from './browser.ts';
import { html, type Site, startSite, tag } from './site.ts';

type Attributes = Record<string, string>;

/** Each test has a domain of its own, of which no browser has anything yet. */
export interface Widget<S extends Stack> {
  visit: Visit;
  stack: S;
  site: Site;
  /** of a page with the tag */
  address: string;
  tag(attributes?: Attributes): string;
  /** Puts a page there, and returns its address. */
  add(path: string, head: string, body?: string, attributes?: string): string;
  /** The regular visitor on that page, or on the other one that is given. */
  open(address?: string): Promise<Visitor>;
  /** The domain's records, oldest first, once there are `count`. */
  records(count: number): Promise<FullRecord[]>;
}

export function useWidget<S extends Stack>(openStack: () => Promise<S>, attributes: Attributes = {}): Widget<S> {
  const visit = useBrowser();
  const widget = {
    visit,
    tag: (given) => tag(widget.stack, given),
    add: (path, ...page) => widget.site.add(path, html(...page)),
    open: async (address = widget.address) => {
      const visitor = await visit.again();
      await visitor.page.goto(address);
      return visitor;
    },
    records: (count) => recordsOf(widget.stack, count),
  } as Widget<S>;
  beforeAll(async () => {
    widget.stack = await openStack();
    widget.site = await startSite();
  });
  beforeEach(async () => {
    widget.stack = await withOwnDomain(widget.stack);
    widget.address = widget.add('/', widget.tag(attributes));
  });
  return widget;
}

/** The notice's text, once the service has it. */
export const documentOf = ({ api, tenant, domainId }: Stack, hash: string | null | undefined): Promise<string> =>
  eventually(async () => {
    const authorization = `Bearer ${tokenFor(tenant.organizationId)}`;
    const response = await fetch(`${api.baseUrl}/v1/consent/${domainId}/notices/${hash}`, {
      headers: { authorization },
    });
    if (response.status !== 200) throw new Error(`notice ${hash}: ${response.status}`);
    return response.text();
  });

export const consentIn = (page: Page) => page.evaluate(() => window.assent?.getConsent());

/** What the browser keeps for the page's site under names with this part. */
export const kept = (page: Page, part: string): Promise<string[]> =>
  page.evaluate(
    (wanted) => Object.entries(localStorage).flatMap(([name, text]) => (name.includes(wanted) ? [text] : [])),
    part,
  );

/** Records a decision through the page's record client, and returns its id. */
export const decide = (page: Page, decision: string): Promise<string | undefined> =>
  page.evaluate((given) => window.client?.record({ decision: given }), decision);

/** The widget's messages for the site's operator. */
export const warningsIn = (messages: string[]): string[] =>
  messages.filter((message) => message.startsWith('warning: assent'));
