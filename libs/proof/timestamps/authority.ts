/**
 * Asks a time-stamping authority for a token (RFC 3161), and checks that the token belongs to the request. Signature and
 * certificates are not checked here: relying parties check them against authorities that they trust, with
 * `openssl ts -verify`.
 */
import { randomBytes } from 'node:crypto';
import { SignedData } from '@peculiar/asn1-cms';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { id_ct_tstInfo, MessageImprint, PKIStatus, TimeStampReq, TimeStampResp, TSTInfo } from '@peculiar/asn1-tsp';
import { AlgorithmIdentifier } from '@peculiar/asn1-x509';
import { TimedOut } from '#libs/base/timers';

const idSha256 = '2.16.840.1.101.3.4.2.1';
/** bytes; tokens with their certificates take about 2 to 8 kB */
const maxAnswer = 64 * 1024;

export interface Authority {
  url: string;
  /** milliseconds for the whole exchange */
  timeout: number;
}

/**
 * The token in DER for a SHA-256. Rejects with an error that describes the authority's mistake, or the reason for giving
 * up.
 */
export async function askForToken(
  { url, timeout }: Authority,
  imprint: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array> {
  signal.throwIfAborted();
  // AbortSignal.any loses a timeout to the garbage collector in Node 20
  const giveUp = new AbortController();
  const stop = () => giveUp.abort(signal.reason);
  const timer = setTimeout(() => giveUp.abort(new TimedOut(`no answer within ${timeout} ms`)), timeout);
  signal.addEventListener('abort', stop);
  try {
    const nonce = makeNonce();
    return openAnswer(await exchange(url, formatRequest(imprint, nonce), giveUp.signal), imprint, nonce);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

async function exchange(url: string, body: Buffer<ArrayBuffer>, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
    body,
    redirect: 'error',
    signal,
  });
  if (response.ok) return readAnswer(response, signal);
  await response.body?.cancel();
  throw new Error(`the time-stamping authority answered with ${response.status}`);
}

/** 8 bytes that form a positive DER integer without padding. */
function makeNonce(): Buffer {
  const nonce = randomBytes(8);
  nonce.writeUInt8((nonce.readUInt8() & 0x3f) | 0x40);
  return nonce;
}

const formatRequest = (imprint: Uint8Array, nonce: Uint8Array): Buffer<ArrayBuffer> =>
  Buffer.from(
    AsnConvert.serialize(
      new TimeStampReq({
        messageImprint: new MessageImprint({
          hashAlgorithm: new AlgorithmIdentifier({ algorithm: idSha256, parameters: null }),
          hashedMessage: new OctetString(imprint),
        }),
        nonce: Uint8Array.from(nonce).buffer,
        certReq: true,
      }),
    ),
  );

async function readAnswer({ body }: Response, signal: AbortSignal): Promise<Buffer> {
  const reader = body?.getReader();
  // once the headers are there, fetch may lose its signal to the garbage collector
  const stop = () => void reader?.cancel().catch(() => {});
  signal.addEventListener('abort', stop);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    parts.push(part.value);
    length += part.value.length;
    if (length <= maxAnswer) continue;
    stop();
    throw new Error(`the time-stamping authority answered with more than ${maxAnswer} bytes`);
  }
  signal.throwIfAborted();
  return Buffer.concat(parts);
}

/** Extracts the token from the authority's response to the request with this imprint and nonce. */
function openAnswer(answer: Buffer, imprint: Uint8Array, nonce: Uint8Array): Uint8Array {
  const { status, timeStampToken } = parse(answer, TimeStampResp);
  const isGranted = status.status === PKIStatus.granted || status.status === PKIStatus.grantedWithMods;
  if (!isGranted || !timeStampToken) throw new Error(`the time-stamping authority refused: ${reasonOf(status)}`);
  const { encapContentInfo, certificates } = parse(timeStampToken.content, SignedData);
  const content = encapContentInfo.eContent?.single;
  if (encapContentInfo.eContentType !== id_ct_tstInfo || !content) throw new Error('the token is no time-stamp');
  const { messageImprint, nonce: answered } = parse(content.buffer, TSTInfo);
  const isSame =
    messageImprint.hashAlgorithm.algorithm === idSha256 &&
    Buffer.from(messageImprint.hashedMessage.buffer).equals(imprint);
  if (!isSame) throw new Error('the time-stamp is one of another hash');
  if (!answered || !Buffer.from(answered).equals(nonce)) throw new Error('the time-stamp answers another request');
  if (!certificates?.length) throw new Error('the time-stamp lacks the certificate that was asked for');
  const token = Buffer.from(AsnConvert.serialize(timeStampToken));
  // the original bytes, since the signature does not hold for re-encoded ones
  if (!answer.includes(token)) throw new Error('the time-stamp is not in DER');
  return token;
}

function parse<Parsed>(bytes: ArrayBuffer | Uint8Array, schema: new () => Parsed): Parsed {
  try {
    return AsnConvert.parse(bytes, schema);
  } catch (cause) {
    throw new Error('the time-stamping authority answered with something else than a time-stamp', { cause });
  }
}

/** The authority's own explanation, if it gives one. */
function reasonOf({ status, statusString, failInfo }: TimeStampResp['status']): string {
  const name = PKIStatus[status] ?? `status ${status}`;
  const words = [...(statusString ?? []), ...(failInfo?.toJSON() ?? [])].join(', ');
  return words === '' ? name : `${name} (${words.slice(0, 300)})`;
}
