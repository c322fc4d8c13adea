/**
 * A TCP proxy on the loopback that can misbehave as networks do. It is a thread: whatever keeps the drill's own busy would
 * otherwise be an outage for all who are behind it.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** `hold`: connections stay open, and bytes are lost. A number: milliseconds of delay. */
type Weather = 'pass' | 'hold' | number;

export async function startProxy(target: number) {
  const thread = new Worker(new URL('proxy-thread.mjs', import.meta.url), { workerData: target });
  const [port] = await once(thread, 'message');
  return {
    port: Number(port),
    set: (weather: Weather) => thread.postMessage(weather),
    cut: () => thread.postMessage('cut'),
    close: () => thread.terminate(),
  };
}
