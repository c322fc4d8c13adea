/** What an identity provider answers fits into a few kilobytes; more is not read. */

/** bytes */
const most = 256 * 1024;

export class TooLong extends Error {}

export async function boundedFetch(address: string, init: object): Promise<Response> {
  const { body, status, headers } = await fetch(address, init);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = body?.getReader();
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > most) {
      void reader.cancel();
      throw new TooLong(`more than ${most} bytes`);
    }
    chunks.push(value);
  }
  return new Response(chunks.length > 0 ? new Blob(chunks) : null, { status, headers });
}
