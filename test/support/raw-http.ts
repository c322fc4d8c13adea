/** Requests as bytes, for what no HTTP client would send. */
import { connect } from 'node:net';
import type { ProblemAnswer } from './client.ts';

export interface RawAnswer {
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Writes each chunk, `pause` milliseconds apart, and reads until the server closes the connection.
 * Rejects where it closes without an answer, or has not closed after `patience` milliseconds.
 */
export function exchange(
  baseUrl: string,
  chunks: (string | Buffer)[],
  { pause = 0, patience = 60_000 }: { pause?: number; patience?: number } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const received: Buffer[] = [];
    const left = [...chunks];
    let failure: Error | undefined;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = setTimeout(() => socket.destroy(new Error(`still open after ${patience} ms`)), patience);
    const writeNext = () => {
      const chunk = left.shift();
      if (chunk === undefined || !socket.writable) return;
      socket.write(chunk);
      timer = setTimeout(writeNext, pause);
    };
    socket.on('connect', writeNext);
    socket.on('data', (data) => received.push(data));
    // a server that refuses the rest resets the connection, and may have answered before
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      clearTimeout(tooLate);
      const response = parse(Buffer.concat(received).toString('latin1'));
      if (response) resolve(response);
      else reject(new Error(`the connection was closed without an answer: ${failure?.message ?? 'no error'}`));
    });
  });
}

function parse(text: string): RawAnswer | null {
  const final = text.replace(/^HTTP\/1\.1 1\d\d .*?\r\n\r\n/s, '');
  const [head = '', ...rest] = final.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (!status) return null;
  const headers = new Headers(lines.map((line): [string, string] => splitHeader(line)));
  return { status, headers, body: rest.join('\r\n\r\n') };
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

export const problemIn = (response: RawAnswer): ProblemAnswer => JSON.parse(response.body) as ProblemAnswer;
