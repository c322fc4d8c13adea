/** Puts a page's script and style into its HTML, with a policy that allows those two and nothing else. */
import { createHash } from 'node:crypto';
import { Advice } from './advice.ts';

const parts = ['policy', 'style', 'script'];

export function singlePage(html: string, { script, style }: { script: string; style: string }): string {
  for (const part of parts) if (html.split(`<!-- ${part} -->`).length !== 2) throw new Advice(`no place for ${part}`);
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
    throw new Advice('the page would end within its script');
  const directives = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ];
  const filled: Record<string, string> = {
    policy: `<meta http-equiv="Content-Security-Policy" content="${directives.join(';')}">`,
    style: `<style>${style}</style>`,
    script: `<script>${script}</script>`,
  };
  return html.replace(/<!-- (policy|style|script) -->/g, (_, part: string) => filled[part] ?? '');
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
