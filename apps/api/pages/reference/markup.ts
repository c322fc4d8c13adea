/** HTML of plain text. */
import { escapeHtml } from '#libs/base/http/html';

/** Descriptions mark names with backticks, and nothing else. */
export const inline = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** It may be wider than the page, so it scrolls, and the keyboard has to reach it. */
export const block = (label: string, text: string): string =>
  `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>`;

export const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
