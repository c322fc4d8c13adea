/** Every command of every document, as it is written there, in a copy of the checkout beside its running `npm start`. */

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { type Checkout, startCheckout } from '../support/checkout.ts';
import { blocks, blocksOf, pages } from '../support/documents.ts';

/** What is not run here, and why. */
const notRun: { command: RegExp; because: string }[] = [
  { command: /^npm run demo$/, because: 'takes half a minute; a smaller demo is run' },
  { command: /^npm start$/, because: 'runs already: the others need it' },
  { command: /^npm (test|run test:all)\b/, because: 'is what runs this' },
  {
    command: /^npm ci && npm run build$/,
    because: 'test/rehearsals/image.test.ts runs both; here npm start has built',
  },
  { command: /^(sha256sum|tar|cd) /, because: 'needs a release; test/rehearsals/image.test.ts runs them' },
  {
    command: /assent -- webhook |node receiver\.mjs$/,
    because: 'wants a receiver and WEBHOOK_ALLOW_PRIVATE; test/webhooks/api.test.ts runs the receiver and these verbs',
  },
  { command: /(^|\| )psql /, because: 'needs a database to load into' },
  { command: /^GO111MODULE=off .* go run /, because: 'needs Go; test/rehearsals/go.test.ts runs them' },
  { command: /\bdocker /, because: 'needs a container engine; test/checkout/deployment.unit.test.ts reads the file' },
  {
    command: /^npm run (-s )?(bench|chaos|fuzz)\b(?!.*--list)/,
    because: 'takes minutes; what it names is checked below',
  },
  {
    command: /^npm run (-s )?(types|lint|format)$/,
    because: 'looks at the source, not at the service; .ci/run runs it',
  },
  { command: /^npm run -s release\b/, because: 'test/rehearsals/release.test.ts runs it in a clone' },
  { command: /^\.ci\/run$/, because: 'runs npm test' },
];

/**
 * Their commands need stores of their own, or containers: test/rehearsals/runbook-*.test.ts, containers-restore.test.ts and
 * test/checkout/deployment.unit.test.ts run them, block by block.
 */
const apart = ['docs/runbooks.md', 'docs/containers.md'];

/** These stay until they are told to end. */
const staying = /^npm run (api|worker)$/;

/**
 * A refused request fails the script, a process that stays is stopped once it is ready, who waits asks sooner again, and
 * a bare machine has stand-ins.
 */
const prelude = `
set -eu
if command -v curl >/dev/null; then
  curl() { case " $* " in *' --fail '*) command curl -sS "$@" ;; *) command curl -sS --fail-with-body "$@" ;; esac; }
else curl() { node "$CURL" "$@"; }; fi
sleep() { command sleep 0.2; }
command -v openssl >/dev/null || openssl() { node -p "require('crypto').randomBytes($3).toString('hex')"; }
stay() {
  "$@" & pid=$!
  until curl "http://127.0.0.1:$OPS_PORT/readyz" >/dev/null 2>&1; do
    kill -0 $pid
    sleep 1
  done
  kill -TERM $pid
  wait $pid
}
set -v
`;

const withoutComment = (line: string) => line.replace(/(^|\s)#.*$/, '').trim();
const isNotRun = (line: string) => notRun.some(({ command }) => command.test(withoutComment(line)));
const linesOf = (page: string): string[] =>
  blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'));

function toScript(lines: string[], { demo, databaseUrl, redisUrl, settings }: Checkout): string {
  const run = lines.map((line) => {
    if (isNotRun(line)) return ':';
    return staying.test(withoutComment(line)) ? `stay ${line}` : line;
  });
  return (
    (prelude + run.join('\n'))
      // the secrets that its database knows
      .replaceAll(/^(\w+)=\$\(openssl rand -hex 32\)$/gm, (made, name: string) =>
        settings[name] === undefined ? made : `${name}=${settings[name]}`,
      )
      .replaceAll('/etc/assent', './etc')
      .replaceAll('/backup/assent', '.')
      .replaceAll('postgres://…', databaseUrl)
      .replaceAll('redis://…', redisUrl)
      .replaceAll('org_…', demo.organizationId)
      .replaceAll('dom_…', demo.domainId)
      .replaceAll('ak_…', demo.apiKey)
  );
}

const checkout = await startCheckout();

describe('the documents', () => {
  const shell = async (script: string) => {
    const [port, opsPort] = await Promise.all([freePort(), freePort()]);
    const curl = path.resolve(import.meta.dirname, '../support/curl.mjs');
    return checkout.shell(script, { PORT: String(port), OPS_PORT: String(opsPort), CURL: curl });
  };
  /** what each page's commands printed */
  const outputs = new Map<string, string>();

  it('say what npm start prints', () => {
    const shown = blocks('text').find(({ page, text }) => page === 'README.md' && text.includes('Assent is running'));
    // figures, addresses and times differ
    const words = (shown?.text ?? '').match(/^ {2}[A-Z]?[a-z]+(?: [a-z]+)?(?= {2})|^[A-Z].*$/gm) ?? [];
    expect(words.length).toBeGreaterThan(8);
    expect(words.filter((word) => !checkout.output.includes(word))).toEqual([]);
  });

  it('lead to localhost, whatever name of this machine a page is opened by', async () => {
    const { baseUrl } = checkout.demo;
    expect(checkout.output).toContain(`Dashboard   ${baseUrl}/#token=`);
    const { hostname, port } = new URL(baseUrl);
    const opened = await fetch(`http://127.0.0.1:${port}/docs`, { headers: { accept: 'text/html' } });
    expect([hostname, checkout.settings.PUBLIC_URL, opened.url]).toEqual(['localhost', baseUrl, `${baseUrl}/docs`]);
  });

  const hasCommands = (page: string) => linesOf(page).some((line) => withoutComment(line) && !isNotRun(line));

  it.each(pages.filter((page) => !apart.includes(page) && hasCommands(page)))(
    '%s: its commands succeed',
    async (page) => {
      const { code, output } = await shell(toScript(linesOf(page), checkout));
      outputs.set(page, output);
      expect(code, output).toBe(0);
    },
    900_000,
  );

  it('a command that fails would fail its page', async () => {
    const [page = ''] = pages;
    const misspelt = linesOf(page).map((line) => line.replace('/record"', '/recrod"'));
    expect(misspelt).not.toEqual(linesOf(page));
    expect((await shell(toScript(misspelt, checkout))).code).not.toBe(0);
  });

  it('need every exception that is listed', () => {
    const lines = pages.flatMap(linesOf).map(withoutComment);
    expect(notRun.filter(({ command }) => !lines.some((line) => command.test(line)))).toEqual([]);
  });

  it.each([
    ['bench', 'docs/benchmarks.md'],
    ['chaos', 'docs/guarantees.md'],
  ])('name only what %s has, by the list that %s prints', (script, page) => {
    const known: string[] = outputs.get(page)?.match(/^[a-z-]+(?= )/gm) ?? [];
    const named = pages
      .flatMap(linesOf)
      .map(withoutComment)
      .filter((line) => line.startsWith(`npm run ${script} -- `))
      .flatMap((line) => line.split(' ').slice(4))
      .filter((word) => !word.startsWith('--'));
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('Ctrl-C ends npm start', async () => {
    expect(await checkout.stop()).toEqual({ code: 0, signal: null });
  });
});
