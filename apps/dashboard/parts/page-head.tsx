/** The head of a page: breadcrumbs, title, and the tabs of a domain. Also sets the document's title. */
import './page-head.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { domainAddress, homeAddress, logAddress, visitorAddress } from '../data/router.ts';
import { escapeInvisible } from '../format.ts';

interface Props {
  title: string;
  note: ComponentChildren;
  children?: ComponentChildren;
  /** on the pages of a domain */
  domain?: { domainId: string; page: 'domain' | 'log' | 'visitor'; hasVisitors: boolean };
}

let isFirstPage = true;

const titles = { domain: '', log: 'Log of ', visitor: 'Visitor of ' };
const crumbs = { log: 'Log', visitor: 'Visitor' };

export function PageHead({ title, note, children, domain }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const page = domain?.page;
  // two pages of a domain have the same title, so the page counts too
  useEffect(() => {
    document.title = `${page === undefined ? '' : titles[page]}${escapeInvisible(title)} · Assent`;
    // after navigation the focus moves to the heading, so that screen readers announce it as on a full load
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [title, page]);
  return (
    <div class="page-head">
      {domain && (
        <nav class="crumbs" aria-label="Breadcrumbs">
          <ol>
            <li>
              <a href={homeAddress}>Overview</a>
            </li>
            <li aria-current={page === 'domain' ? 'page' : undefined}>
              {page !== 'domain' ? (
                <a href={domainAddress(domain.domainId)}>
                  <bdi>{escapeInvisible(title)}</bdi>
                </a>
              ) : (
                <bdi>{escapeInvisible(title)}</bdi>
              )}
            </li>
            {page !== undefined && page !== 'domain' && <li aria-current="page">{crumbs[page]}</li>}
          </ol>
        </nav>
      )}
      <div class="page-title">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{escapeInvisible(title)}</bdi>
        </h1>
        {children}
      </div>
      <p class="muted">{note}</p>
      {domain && (
        <nav class="tabs" aria-label="Pages of this domain">
          <a href={domainAddress(domain.domainId)} aria-current={page === 'domain' ? 'page' : undefined}>
            Statistics
          </a>
          <a href={logAddress(domain.domainId)} aria-current={page === 'log' ? 'page' : undefined}>
            Log
          </a>
          {domain.hasVisitors && (
            <a href={visitorAddress(domain.domainId)} aria-current={page === 'visitor' ? 'page' : undefined}>
              Visitor
            </a>
          )}
        </nav>
      )}
    </div>
  );
}
