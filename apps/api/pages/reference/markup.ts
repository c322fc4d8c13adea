/** HTML from plain text. */
import { escapeHtml } from '#libs/base/http/html';

/** Descriptions only use backticks as markup. */
export const inline = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** It may be wider than the page, so it scrolls and takes the keyboard focus. */
export const block = (label: string, text: string): string =>
  `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>`;

export const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
