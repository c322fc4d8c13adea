/** A time-stamping authority by `openssl ts`, with a CA of its own, behind HTTP. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { listen } from './listen.ts';

const settings = `
[req]
distinguished_name = name
prompt = no
[name]
CN = test
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[stamps]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[authority]
serial = ./serial
signer_cert = ./stamps.pem
certs = ./ca.pem
signer_key = ./stamps.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
`;

/** A bare machine has none. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

export type Answer = (query: Buffer, response: ServerResponse) => Promise<void> | void;

export interface TimeAuthority {
  url: string;
  /** every request so far, with what it asked */
  requests: { type: string | undefined; query: Buffer }[];
  /** what openssl answers to a query */
  reply(query: Buffer): Promise<Buffer>;
  /** from now on; as openssl does, if nothing is given */
  answerWith(answer?: Answer): void;
  /** what openssl says of a token */
  verify(token: Uint8Array, digest: string): Promise<string>;
  /** a query in openssl's own words */
  query(...options: string[]): Promise<Buffer>;
}

export async function startTimeAuthority(): Promise<TimeAuthority> {
  const folder = mkdtempSync(path.join(inject('folder'), 'authority-'));
  let files = 0;
  const save = (bytes: Uint8Array) => {
    files += 1;
    writeFileSync(path.join(folder, `file-${files}`), bytes);
    return `file-${files}`;
  };
  const openssl = async (...args: string[]): Promise<Buffer> => {
    const options = { cwd: folder, encoding: 'buffer', env: { ...process.env, OPENSSL_CONF: './settings' } } as const;
    return (await promisify(execFile)('openssl', args, options)).stdout;
  };
  writeFileSync(path.join(folder, 'settings'), settings);
  writeFileSync(path.join(folder, 'serial'), '01');
  const key = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', name];
  await openssl('req', '-x509', ...key('ca.key'), '-out', 'ca.pem', '-subj', '/CN=Test CA', '-extensions', 'ca');
  await openssl('req', ...key('stamps.key'), '-out', 'stamps.csr', '-subj', '/CN=Test stamps');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'settings'];
  await openssl('x509', '-req', '-in', 'stamps.csr', ...signing, '-extensions', 'stamps', '-out', 'stamps.pem');

  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: the next serial number is in a file. */
  const reply = (query: Buffer): Promise<Buffer> => {
    const replying = last.then(() => openssl('ts', '-reply', '-section', 'authority', '-queryfile', save(query)));
    last = replying.catch(() => {});
    return replying;
  };
  const asOpenssl: Answer = async (query, response) => {
    response.setHeader('content-type', 'application/timestamp-reply').end(await reply(query));
  };
  let answer = asOpenssl;
  const requests: TimeAuthority['requests'] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const query = await buffer(request);
    requests.push({ type: request.headers['content-type'], query });
    await answer(query, response);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => response.destroy(error));
  });
  const url = `http://127.0.0.1:${await listen(server)}/tsr`;
  return {
    url,
    requests,
    reply,
    answerWith: (given = asOpenssl) => {
      answer = given;
    },
    verify: async (token, digest) => {
      const verifying = ['ts', '-verify', '-digest', digest, '-in', save(token), '-token_in', '-CAfile', 'ca.pem'];
      return (await openssl(...verifying)).toString().trim();
    },
    query: (...options) => openssl('ts', '-query', ...options),
  };
}
