/** The head of a page: where one is, what it is, and what there is to do with all of it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { domainAddress, homeAddress, logAddress } from '../data/router.ts';
import { visible } from '../format.ts';

interface Props {
  title: string;
  note: ComponentChildren;
  children?: ComponentChildren;
  /** of the pages of a domain */
  domain?: { domainId: string; page: 'domain' | 'log'; query?: Record<string, string | undefined> };
}

let isFirstPage = true;

export function PageHead({ title, note, children, domain }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const page = domain?.page;
  // another page is another heading, although it may be worded alike
  useEffect(() => {
    document.title = `${page === 'log' ? 'Log of ' : ''}${visible(title)} · Assent`;
    // who follows a link is told where it led, as by a page that was loaded
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [title, page]);
  return (
    <div class="page-head">
      {domain && (
        <nav class="crumbs" aria-label="You are here">
          <ol>
            <li>
              <a href={homeAddress}>Overview</a>
            </li>
            <li aria-current={page === 'domain' ? 'page' : undefined}>
              {page === 'log' ? (
                <a href={domainAddress(domain.domainId)}>
                  <bdi>{visible(title)}</bdi>
                </a>
              ) : (
                <bdi>{visible(title)}</bdi>
              )}
            </li>
            {page === 'log' && <li aria-current="page">Log</li>}
          </ol>
        </nav>
      )}
      <div class="page-title">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{visible(title)}</bdi>
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
