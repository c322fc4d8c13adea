/** The head of a page: breadcrumbs, title, and the tabs of a domain. Also sets the document's title. */
import './page-head.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { domainAddress, homeAddress, logAddress } from '../data/router.ts';
import { escapeInvisible } from '../format.ts';

interface Props {
  title: string;
  note: ComponentChildren;
  children?: ComponentChildren;
  /** on the pages of a domain */
  domain?: { domainId: string; page: 'domain' | 'log' };
}

let isFirstPage = true;

export function PageHead({ title, note, children, domain }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const page = domain?.page;
  // two pages of a domain have the same title, so the page counts too
  useEffect(() => {
    document.title = `${page === 'log' ? 'Log of ' : ''}${escapeInvisible(title)} · Assent`;
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
              {page === 'log' ? (
                <a href={domainAddress(domain.domainId)}>
                  <bdi>{escapeInvisible(title)}</bdi>
                </a>
              ) : (
                <bdi>{escapeInvisible(title)}</bdi>
              )}
            </li>
            {page === 'log' && <li aria-current="page">Log</li>}
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
        </nav>
      )}
    </div>
  );
}
