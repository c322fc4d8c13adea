/** Keeps the widget's own requests from the service: a check records no decisions and counts no displays. */
import type { Settings } from '../settings.ts';
import { timeOf } from '../uuid.ts';

/** `since`: Unix milliseconds. Earlier decisions that wait in this browser are sent as always. */
export function interceptRequests({ api, domain }: Settings, since: number): void {
  const base = `${api}/v1/consent/${domain}/`;
  const real = window.fetch;
  window.fetch = (...request) => {
    const [target, { body } = {}] = request;
    const address = String(target instanceof Request ? target.url : target);
    if (address === `${base}displays`) return Promise.resolve(new Response(null, { status: 204 }));
    const receipt = address === `${base}record` && typeof body === 'string' && receiptOf(body, since);
    return receipt
      ? Promise.resolve(new Response(JSON.stringify(receipt), { status: 202 }))
      : real.apply(window, request);
  };
}

function receiptOf(body: string, since: number): object | undefined {
  try {
    const { id } = JSON.parse(body) as { id: string };
    const at = timeOf(id);
    const time = new Date(at).toISOString();
    return at >= since ? { id, status: 'queued', decidedAt: time, receivedAt: time } : undefined;
  } catch {
    return undefined;
  }
}
