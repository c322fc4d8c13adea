/** Sends one message to a receiver, and tells how it went: a 2xx in time, or why not. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { readRetryAfter } from '#libs/base/terms/retry-after';
import {
  checkAddresses,
  guardedLookup,
  hostOf,
  type Reach,
  RefusedAddress,
  type Resolve,
  readWebhookUrl,
  UnknownName,
} from './addresses.ts';
import type { Failure } from './contract.ts';

export interface Sender {
  resolve: Resolve;
  reach: Reach;
  /** milliseconds for all of it */
  patience: number;
  /** PEM: certificates that are trusted beside the usual ones */
  ca?: string;
}

interface Sent {
  failure: Failure | null;
  status: number | null;
  /** milliseconds that the receiver asks for */
  retryAfter: number;
}

/**
 * What is read of an answer. Nothing of it is kept, but a receiver may want to be read. Each interim response, chunk and
 * read costs as much however small it is, so they are limited as well as bytes: deliveries share a process with storing.
 */
const most = { interim: 8, chunks: 64, reads: 256, bytes: 128 * 1024 };
/** Milliseconds that the body of an answer may take. */
const answerTime = 1_000;

class TooSlow extends Error {}

export async function send(sender: Sender, to: string, headers: Record<string, string>, body: string): Promise<Sent> {
  // the setting, or the rules, may have changed since the webhook was made
  if ('refused' in readWebhookUrl(to, sender.reach)) return failed('address');
  const url = new URL(to);
  try {
    // of an address Node asks for no lookup
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

/** Resolves with the head of the answer, once its body is read, cut or too slow. */
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
    // each message has a connection of its own, so its address was checked just now
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
    const timer = setTimeout(() => fail(new TooSlow(`no answer within ${patience} ms`)), patience);
    request.on('error', fail);
    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > most.interim) request.destroy(new Error('too many interim responses'));
    });
    request.on('socket', limitReads);
    request.on('response', (response) => {
      clearTimeout(timer);
      // where the connection breaks later, Node reports that here as well
      request.off('error', fail);
      request.on('error', () => {});
      void drain(response).then(() => done(response));
    });
    // a 101 is no response to Node, and without this the connection would end without a word
    request.on('upgrade', (response, socket) => {
      clearTimeout(timer);
      socket.destroy();
      done(response);
    });
    request.end(bytes);
  });
}

/** Of the whole answer, framing and headers too. */
function limitReads(socket: Socket): void {
  let reads = 0;
  socket.on('data', () => {
    reads += 1;
    if (reads > most.reads || socket.bytesRead > most.bytes) socket.destroy();
  });
}

/** However the body ends, the answer is known. */
function drain(response: IncomingMessage): Promise<void> {
  return new Promise((done) => {
    let chunks = 0;
    const cut = () => response.destroy();
    const timer = setTimeout(cut, answerTime);
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
