/** Sends one message to a receiver. It succeeds with a 2xx in time. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { readRetryAfter } from '#libs/base/terms/retry-after';
import {
  type AddressPolicy,
  checkAddresses,
  guardedLookup,
  hostOf,
  RefusedAddress,
  type Resolve,
  readWebhookUrl,
  UnknownName,
} from './addresses.ts';
import type { Failure } from './contract.ts';

export interface Sender {
  resolve: Resolve;
  reach: AddressPolicy;
  /** milliseconds until the response's head */
  patience: number;
  /** PEM: certificates that are trusted instead of the usual ones, in tests */
  ca?: string;
}

interface Sent {
  failure: Failure | null;
  status: number | null;
  /** milliseconds that the receiver asks for */
  retryAfter: number;
}

/**
 * Limits on a response. The body is read, because some receivers need that, and then discarded. Interim responses, chunks
 * and reads each cost time, however small, in the process that also stores records.
 */
const most = { interim: 8, chunks: 64, reads: 256, bytes: 128 * 1024 };
/** milliseconds for the body of a response */
const bodyTime = 1_000;

class TooSlow extends Error {}

export async function send(sender: Sender, to: string, headers: Record<string, string>, body: string): Promise<Sent> {
  // settings may have changed since the webhook was created
  if ('refused' in readWebhookUrl(to, sender.reach)) return failed('address');
  const url = new URL(to);
  try {
    // Node does not call `lookup` for an IP address
    if (ipaddr.isValid(hostOf(url))) await checkAddresses(url, [hostOf(url)], sender.reach, sender.resolve);
    const response = await exchange(sender, url, headers, body);
    const status = response.statusCode ?? 0;
    return {
      failure: failureOf(status),
      status,
      retryAfter: readRetryAfter(response.headers['retry-after'], response.headers.date),
    };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

const failed = (failure: Failure): Sent => ({ failure, status: null, retryAfter: 0 });

function failureOf(status: number): Failure | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return 'redirect';
  return status === 410 ? 'gone' : 'status';
}

function reasonOf(error: unknown): Failure {
  if (error instanceof TooSlow) return 'timeout';
  if (error instanceof RefusedAddress) return 'address';
  if (error instanceof UnknownName) return 'name';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|HOSTNAME_MISMATCH/.test(code) ? 'certificate' : 'connection';
}

/** Resolves with the head of the response once its body has been read or cut off. */
function exchange(sender: Sender, url: URL, headers: Record<string, string>, body: string): Promise<IncomingMessage> {
  const { resolve, reach, patience, ca } = sender;
  const bytes = Buffer.from(body);
  const options = {
    method: 'POST',
    host: hostOf(url),
    port: url.port || undefined,
    path: url.pathname + url.search,
    headers: {
      'user-agent': 'Assent',
      ...headers,
      host: url.host,
      'content-type': 'application/json',
      'content-length': bytes.length,
    },
    // a new connection for each message, so that its address is checked
    agent: false as const,
    lookup: guardedLookup(url, resolve, reach),
    ...(ca && { ca }),
  };
  return new Promise((done, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(options);
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
      request.destroy();
    };
    const timer = setTimeout(() => fail(new TooSlow(`no response within ${patience} ms`)), patience);
    request.on('error', fail);
    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > most.interim) request.destroy(new Error('too many interim responses'));
    });
    request.on('socket', limitReads);
    request.on('response', (response) => {
      clearTimeout(timer);
      // Node also emits errors of the body here
      request.off('error', fail);
      request.on('error', () => {});
      void drain(response).then(() => done(response));
    });
    // Node emits no response for a 101, so the request would never end
    request.on('upgrade', (response, socket) => {
      clearTimeout(timer);
      socket.destroy();
      done(response);
    });
    request.end(bytes);
  });
}

/** Limits the whole response, with framing and headers. */
function limitReads(socket: Socket): void {
  let reads = 0;
  socket.on('data', () => {
    reads += 1;
    if (reads > most.reads || socket.bytesRead > most.bytes) socket.destroy();
  });
}

/** Never rejects: the status is known however the body ends. */
function drain(response: IncomingMessage): Promise<void> {
  return new Promise((done) => {
    let chunks = 0;
    const cut = () => response.destroy();
    const timer = setTimeout(cut, bodyTime);
    response.on('data', () => {
      chunks += 1;
      if (chunks > most.chunks) cut();
    });
    response.on('error', () => {});
    response.on('close', () => {
      clearTimeout(timer);
      done();
    });
  });
}
