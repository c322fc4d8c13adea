/** An error as a page, for people who opened an address in a browser. */
import { createHash } from 'node:crypto';
import type { ProblemBody } from '../terms/problem.ts';
import { escapeHtml } from './html.ts';
import { singlePageHeaders } from './security-headers.ts';

const style =
  ':root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}main{max-width:32rem;margin:15vh auto;padding:0 1rem}';
const hash = createHash('sha256').update(style).digest('base64');

export const errorPageHeaders = singlePageHeaders(
  `default-src 'none';style-src 'sha256-${hash}';base-uri 'none';form-action 'none'`,
);

/** `home`: the dashboard's path. */
export function errorPage({ title, detail, status, requestId }: ProblemBody, home: string): string {
  const sentence = detail === title ? 'something went wrong' : detail;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Assent</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(sentence.charAt(0).toUpperCase() + sentence.slice(1))}.</p>
<p><a href="${escapeHtml(home)}">Go to the dashboard</a></p>
<p><small>Error ${status}, request ${escapeHtml(requestId)}</small></p>
</main>
</body>
</html>
`;
}
